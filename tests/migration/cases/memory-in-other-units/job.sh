#!/bin/bash
#SBATCH --mem=1536M
#SBATCH --tmp=10G
sort big.txt >sorted.txt
