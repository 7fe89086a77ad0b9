#!/bin/bash
#SBATCH --time=10 --mail-type=END --mail-user=me@lab.example
#SBATCH --licenses=matlab:1 --reservation=week --exclusive --nice=10
#SBATCH --gres=gpu:2 --cpus-per-task=8 --mem=64G
srun python train.py
