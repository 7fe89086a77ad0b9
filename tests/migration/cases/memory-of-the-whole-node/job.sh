#!/bin/bash
#SBATCH --mem=0
#SBATCH --exclusive
python assemble.py
