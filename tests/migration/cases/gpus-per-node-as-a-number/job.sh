#!/bin/bash
#SBATCH --job-name=counted
#SBATCH --nodes=1 --gpus-per-node=a100:4 --time=1:00:00
# The variable is `a100:4` here, and no number.
python train.py --processes "$SLURM_GPUS_PER_NODE"
