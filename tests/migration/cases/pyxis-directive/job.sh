#!/bin/bash
#SBATCH --container-image=nvcr.io\#nvidia/pytorch:24.01
#SBATCH --container-mounts=/data:/data
python train.py
