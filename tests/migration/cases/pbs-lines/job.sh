#!/bin/bash
#PBS -N fromthere
#PBS -l nodes=2:ppn=4,walltime=02:00:00
#PBS -m ae
#SBATCH --time=10
#SBATCH --job-name=here
srun ./run.x
