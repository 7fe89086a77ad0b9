#!/bin/bash
# Aligns the reads.
#SBATCH --job-name=align     # as in the paper
#SBATCH --mem=16G	# chr1 needs most
#SBATCH --time=24:00:00 --cpus-per-task=4   # a day: "enough"
#SBATCH --output=align.log   # kept for a year
#SBATCH --comment="a # b" # not this: a comment
#SBATCH # nothing
./align
