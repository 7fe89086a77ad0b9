#!/bin/bash
#SBATCH -J finetune
#SBATCH --gres=gpu:h100:2
#SBATCH -c 16 --mem=120G -t 2-0
#SBATCH -p hopper -A lab --qos=high
python finetune.py --config conf/a.yaml
