#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=1 --gres=gpu:h100:8
IMAGE=nvcr.io#nvidia/pytorch:24.01-py3
srun --container-image=$IMAGE --container-mounts=/lustre/data:/data,$PWD:/code \
    torchrun --nnodes 2 --nproc_per_node 8 /code/train.py
