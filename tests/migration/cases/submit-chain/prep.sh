#!/bin/bash
#SBATCH --time=20 -n1
python prep.py $1
