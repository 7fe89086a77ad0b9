#!/bin/bash
#SBATCH --account=lab --time=10 -N 1 --gres=gpu:a100:1
#SBATCH hetjob --mem=100G
#SBATCH --nodes=2 --ntasks=8
srun --het-group=0 ./server : --het-group=1 ./client
