#!/bin/bash
#SBATCH --dependency=afterok:12345
python after.py
