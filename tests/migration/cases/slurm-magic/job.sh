#!/bin/bash
#SBATCH --mem=1G
#SLURM --time=30
./run.x
