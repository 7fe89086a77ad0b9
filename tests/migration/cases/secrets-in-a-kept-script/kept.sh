#!/bin/bash
#SBATCH --ntasks=2
export HF_TOKEN="${HF_TOKEN}"
srun python train.py
