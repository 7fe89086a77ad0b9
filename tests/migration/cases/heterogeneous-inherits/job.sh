#!/bin/bash
# A server beside its clients.
#SBATCH --job-name=coupled.run
#SBATCH --account=lab --time=1:00:00 --mem=8G --qos=high
#SBATCH --ntasks=1 --cpus-per-task=4
#SBATCH packjob
#SBATCH --nodes=2 --ntasks-per-node=8 --mem=64G --gres=gpu:a100:4
#SBATCH hetjob
#SBATCH --ntasks=1 --partition=big --time=30
srun --het-group=0 ./server &
srun --het-group=1 ./client
srun --het-group=2 ./collect
wait
