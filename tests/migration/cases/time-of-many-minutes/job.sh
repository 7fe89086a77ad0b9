#!/bin/bash
#SBATCH --time=0-230:00
./run.x
