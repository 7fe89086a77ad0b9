#!/bin/bash
first=$(sbatch --parsable a.sh)
sbatch --dependency=afterok:$first b.sh
sbatch --dependency=afterany:$first c.sh
for n in 1 2; do
    sbatch -d afterok:$first d.sh $n
done
ssh login ./tell.sh
