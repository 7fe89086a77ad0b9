# capacity.sh ACCOUNTING: which partitions take jobs (`partition|<name>|<up or down>`), then every
# node with its accelerators and what is taken of them, then our limits.
need_slurm
partitions=$(ask sinfo -h -o '%R|%a') || exit
sort -u <<<"$partitions" | sed 's/^/partition|/'
ask scontrol -d -o show node
[ "$1" = 0 ] || limits
