#!/bin/bash
#SBATCH --cpus-per-task=6
#SBATCH --mem-per-cpu=1500
python stats.py
