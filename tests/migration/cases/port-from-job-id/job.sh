#!/bin/bash
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=4
export MASTER_PORT=$((10000 + SLURM_JOB_ID % 20000))
python serve.py --port "$MASTER_PORT"
