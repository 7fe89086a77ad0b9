#!/usr/bin/env -S bash -eu
#SBATCH --time=10
./run.x
