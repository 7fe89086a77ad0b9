#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
srun bash -c 'echo "$SLURM_PROCID of $SLURM_NTASKS on $(hostname)"'
srun bash -c "echo \$SLURM_NODEID $SLURM_JOB_ID"
