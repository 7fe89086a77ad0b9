#!/bin/bash -l
#SBATCH --time=10
module load R/4.3
Rscript analyse.R
