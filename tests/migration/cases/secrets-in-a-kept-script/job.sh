#!/bin/bash
#SBATCH --ntasks=2
export HF_TOKEN=hf_abcdefghijklmnopqrstuvwxyz012345
srun python train.py
