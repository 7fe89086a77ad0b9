#!/bin/bash
# Preprocess the raw files.
#
# Takes about an hour.
#SBATCH --job-name=preprocess
#SBATCH --time=01:30:00
#SBATCH --cpus-per-task=4
#SBATCH --mem=16G
#SBATCH --partition=cpu

echo "start"   # of the work
for file in raw/*.csv; do
    python clean.py "$file"
done
