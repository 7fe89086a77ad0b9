#!/bin/bash
#SBATCH --nodes=2 --gres=gpu:4
#SBATCH --time=20:00
srun python train.py $1
