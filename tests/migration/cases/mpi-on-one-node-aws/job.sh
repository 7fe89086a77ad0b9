#!/bin/bash
#SBATCH -N 1 -n 16
module load gcc openmpi/4.1
mpirun ./solver case.in
mpirun -np 4 ./collect
