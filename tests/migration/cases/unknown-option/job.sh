#!/bin/bash
#SBATCH --workdir=/scratch/me
./run.x
