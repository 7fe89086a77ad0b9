#!/bin/bash
set -euo pipefail
#SBATCH --nodes=2
#SBATCH --time=10
./run.x
