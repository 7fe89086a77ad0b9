#!/bin/bash
#SBATCH --nodes=1 --ntasks=4
#SBATCH --array=1-7%1
srun ./solver
srun -w node1 hostname
mpirun -hostfile hosts ./solver
singularity run image.sif
docker run --rm ubuntu true
