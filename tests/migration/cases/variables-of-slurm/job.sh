#!/bin/bash
#SBATCH --cpus-per-task=4
export OMP_NUM_THREADS=$SLURM_CPUS_PER_TASK
echo "$SLURM_JOB_ID on $SLURMD_NODENAME"
./run.x
