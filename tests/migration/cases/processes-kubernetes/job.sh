#!/bin/bash
#SBATCH --ntasks=8 --ntasks-per-node=4
#SBATCH --gpus-per-task=a100:1
export MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
export MASTER_PORT=29500
srun --kill-on-bad-exit=1 python train.py --data "$DATA"
