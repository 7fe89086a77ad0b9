#!/usr/bin/env python3
#SBATCH --time=10
import os
print(os.environ["SLURM_JOB_ID"])
