#!/bin/bash
#SBATCH --ntasks=36
#SBATCH --mem-per-cpu=2G
module load openmpi/4.1
mpirun ./solver input.dat
