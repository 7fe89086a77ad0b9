#!/bin/bash
#SBATCH --array=1-100%5
#SBATCH --output=logs/%x_%A_%a.out
line=$(sed -n "${SLURM_ARRAY_TASK_ID}p" inputs.txt)
python run.py $line
