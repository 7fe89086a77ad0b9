#!/bin/bash
#SBATCH -N1 -c10 -t05-00:00:00
#SBATCH -oout.%j --err err.%j
#SBATCH --constrain=ib --tasks=1
#SBATCH--mail-type=END
#SBATCH --mail-type=FAIL --mail-user=me@lab.example
./run.x
