#!/bin/bash
#SBATCH --parsable --wait --test-only
#SBATCH --verbose
./run.x
