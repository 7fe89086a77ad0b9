#!/bin/bash
#SBATCH --export=NONE
#SBATCH --get-user-env
source ~/.bashrc
./run.x
