#!/bin/bash
#BSUB -J lsf
#BSUB -W 2:00
#BSUB -n 4
#SBATCH --mem=1G
mpirun ./run.x
