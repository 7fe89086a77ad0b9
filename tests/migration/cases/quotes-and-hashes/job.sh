#!/bin/bash
#SBATCH --comment="a #b (c)" --job-name='my job'
#SBATCH --partition=cpu#fast
#SBATCH --account lab\#1   # who pays
#SBATCH
#SBATCH --time=10 \
./run.x
