#!/bin/bash
#SBATCH --time=UNLIMITED
#SBATCH --begin=now+1hour
./run.x
