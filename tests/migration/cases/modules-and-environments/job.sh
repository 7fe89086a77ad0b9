#!/bin/bash
#SBATCH --time=10 --cpus-per-task=2
module purge
module load gcc/12 cuda/12.1 openmpi/4.1-cuda
source /home/me/miniconda3/etc/profile.d/conda.sh
conda activate torch
pip install -r requirements.txt
cd /scratch/project/run1
python train.py --data /work/shared/data --port=8080 2>&1 | tee $SCRATCH/log
