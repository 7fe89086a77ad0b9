#!/bin/bash
#SBATCH --time=10
if [ -e x ]; then
./run.x
