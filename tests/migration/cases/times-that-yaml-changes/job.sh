#!/bin/bash
#SBATCH --time=24:00:00
#SBATCH --time-min=1:30
#SBATCH --qos=no --account=010 --comment=yes --nice=5
./run.x
