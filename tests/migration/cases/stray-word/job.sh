#!/bin/bash
#SBATCH --job-name=Big simulation
#SBATCH --time=10
./run.x
