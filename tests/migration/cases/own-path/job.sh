#!/bin/bash
#SBATCH --time=10
cd "$(dirname "$0")" && ./run.x
