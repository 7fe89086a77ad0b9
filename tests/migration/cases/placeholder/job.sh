#!/bin/bash
#SBATCH --nodes={{nodes}}
#SBATCH --time=10
./run.x
