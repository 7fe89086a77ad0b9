# capacity.sh: every node with its accelerators and what is taken of them.
need_slurm
ask scontrol -d -o show node
