#!/bin/bash
# One process, started with srun.
#SBATCH --job-name=one --ntasks=1 --cpus-per-task=4 --time=10
echo "$SLURM_JOB_NAME has $SLURM_NTASKS"
EXE=./solver
time srun -n 1 -c "$SLURM_CPUS_PER_TASK" $EXE case.in | tee log
if ! srun --cpus-per-task=4 ./check; then exit 3; fi
