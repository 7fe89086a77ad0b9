#!/bin/bash
# Prepares, trains, evaluates.
mkdir -p logs
prep=$(sbatch --parsable --time=10 prep.sh data)
out=$(sbatch -d afterok:$prep train.sh)
train=$(echo "$out" | awk '{print $4}')
sbatch --dependency="afterok:${train}" train.sh --eval
echo done
