#!/bin/bash
#SBATCH --nodes=3
#SBATCH --ntasks-per-node=1
nodes=($(scontrol show hostnames "$SLURM_JOB_NODELIST"))
head=${nodes[0]}
srun -N 1 -w "$head" ray start --head --port=6379 --block &
for node in "${nodes[@]:1}"; do
    srun -N 1 -w "$node" ray start --address="$head:6379" --block &
done
python driver.py
