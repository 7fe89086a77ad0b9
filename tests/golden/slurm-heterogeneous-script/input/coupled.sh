#!/bin/bash
#SBATCH --job-name=coupled --time=1:00:00 --ntasks=1 --cpus-per-task=4
#SBATCH hetjob
#SBATCH --nodes=2 --ntasks-per-node=8 --gres=gpu:a100:4
srun --het-group=0 ./server &
srun --het-group=1 ./client
