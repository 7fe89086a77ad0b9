#!/bin/bash
#SBATCH --chdir=runs/a
#SBATCH --time=10
cd "$SLURM_SUBMIT_DIR/x"
./run.x
