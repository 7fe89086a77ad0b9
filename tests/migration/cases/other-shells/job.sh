#!/bin/tcsh -f
#SBATCH --time=10
setenv OMP_NUM_THREADS 4
foreach f (*.dat)
  ./run.x $f
end
