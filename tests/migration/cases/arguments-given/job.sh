#!/bin/bash
#SBATCH --time=10
: "${CONFIG:?not set}"
python train.py --seed "$1" "${@:2}"
show() { echo "$1"; }
show done
