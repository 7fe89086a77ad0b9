#!/bin/bash
#SBATCH --job-name=launch --nodes=2 --ntasks-per-node=1 --gres=gpu:h100:8
set -eo pipefail
MASTER=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
LAUNCHER="python -m torch.distributed.run --nproc_per_node 8 --nnodes $SLURM_NNODES \
    --node_rank \$SLURM_PROCID --rdzv_endpoint $MASTER:6000 --rdzv_backend c10d"
STEP=" --wait=60 \
    --kill-on-bad-exit=1 --jobid $SLURM_JOB_ID"
srun $STEP bash -c "$LAUNCHER train.py" 2>&1 | tee -a main.log
