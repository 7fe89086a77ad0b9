#!/bin/bash
#SBATCH --container-image=./torch.sqsh
#SBATCH --container-mounts=/data:/data
#SBATCH --gres=gpu:1 --time=10
python train.py
