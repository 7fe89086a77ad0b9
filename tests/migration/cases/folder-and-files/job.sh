#!/bin/bash
#SBATCH --chdir=runs/a
#SBATCH --output=out/%x.%j --error=none --input=data.txt
wc -l
