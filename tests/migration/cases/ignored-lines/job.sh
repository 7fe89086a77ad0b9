#!/bin/bash
#SBATCH --time=10
##SBATCH --mem=100G
# SBATCH --qos=high
 #SBATCH --nodes=4
# #SBATCH --array=1-10
#BATCH --account=lab
set -e
#SBATCH --cpus-per-task=8
echo "#SBATCH --nodes=2"
./run.x
