#!/bin/bash
#SBATCH --account=lab
hostname
