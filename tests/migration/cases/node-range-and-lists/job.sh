#!/bin/bash
#SBATCH --nodes=2-4
#SBATCH --partition=gpu,cpu
#SBATCH --nodelist=n[01-02] --exclude=n09
srun ./run.x
