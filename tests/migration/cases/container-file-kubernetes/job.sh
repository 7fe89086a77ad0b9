#!/bin/sh
#SBATCH --ntasks=1
module load apptainer
apptainer exec --nv -B /scratch/me:/data torch.sif python train.py
