#!/bin/bash
#SBATCH --signal=B:USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
trap 'scontrol requeue "$SLURM_JOB_ID"; exit' USR1
python train.py --resume &
wait
