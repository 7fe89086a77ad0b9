#!/bin/bash
#SBATCH --gres=gpu:4g.40gb:1,nvme:300
#SBATCH --mem-per-gpu=20G
python infer.py
