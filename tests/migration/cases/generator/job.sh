#!/bin/bash
for n in 1 2 4; do
    sbatch <<EOF
#!/bin/bash
#SBATCH --nodes=$n
srun ./scale $n
EOF
done
