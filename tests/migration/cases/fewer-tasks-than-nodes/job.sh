#!/bin/bash
#SBATCH --nodes=4
#SBATCH --ntasks=2
srun ./run.x
