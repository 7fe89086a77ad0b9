#!/bin/bash
#SBATCH --comment="never closed
./run.x
