#!/bin/bash
#SBATCH --gres=gpu:tesla:1
#SBATCH -C gpu&hbm80g
python train.py
