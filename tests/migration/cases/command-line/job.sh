#!/bin/bash
#SBATCH --nodes=1 --time=10
#SBATCH --job-name=directive
srun ./run.x "$1"
