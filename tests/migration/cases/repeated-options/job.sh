#!/bin/bash
#SBATCH --time=10
#SBATCH --mem=1G
#SBATCH --time=20
#SBATCH --output=a.out
#SBATCH -o b.out
./run.x
