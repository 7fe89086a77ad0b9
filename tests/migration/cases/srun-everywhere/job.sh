#!/bin/bash
#SBATCH --ntasks=4
#SBATCH --nodes=1
if ! srun -n 1 bwa mem ref.fa reads.fq | samtools sort -o out.bam; then
    exit 1
fi
time srun ./a >log 2>&1 &
first=$!
count=$(srun -n 1 wc -l <out.txt)
SRUN="srun -n 4"
$SRUN ./b "$@" | tee b.log
wait $first
