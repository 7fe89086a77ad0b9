#!/bin/bash
#SBATCH --job-name=sweep
#SBATCH --array=2,5,10-20:5%2
#SBATCH --cpus-per-task=4 --mem=8G
#SBATCH --output=logs/%A_%a.out
line=$(sed -n "${SLURM_ARRAY_TASK_ID}p" params.txt)
python train.py $line --of "$SLURM_ARRAY_TASK_COUNT" --out "run-$SLURM_ARRAY_JOB_ID"
