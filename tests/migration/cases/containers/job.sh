#!/bin/bash
#SBATCH --time=10 --gres=gpu:1
singularity exec --nv -B /data:/data image.sif python train.py
