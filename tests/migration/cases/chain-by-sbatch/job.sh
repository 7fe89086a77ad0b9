#!/bin/bash
#SBATCH --time=1:00:00
#SBATCH --dependency=singleton
python step.py
if [ -e more ]; then
    sbatch "$0"
fi
