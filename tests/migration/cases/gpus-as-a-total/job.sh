#!/bin/bash
#SBATCH --nodes=2
#SBATCH --gpus=8
#SBATCH --ntasks-per-node=1
srun python -m torch.distributed.run --nproc_per_node=4 train.py
