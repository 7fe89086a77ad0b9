#!/bin/bash
#SBATCH --ntasks=1 --cpus-per-task=4
srun ./solver
