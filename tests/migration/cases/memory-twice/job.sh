#!/bin/bash
#SBATCH --mem=4G
#SBATCH --mem-per-cpu=1G
./run.x
