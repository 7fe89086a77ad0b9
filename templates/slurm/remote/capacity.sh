# capacity.sh: which partitions take jobs (`partition|<name>|<up or down>`), then every node with its
# accelerators and what is taken of them.
need_slurm
partitions=$(ask sinfo -h -o '%R|%a') || exit
sort -u <<<"$partitions" | sed 's/^/partition|/'
ask scontrol -d -o show node
