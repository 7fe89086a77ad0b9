# check.sh WORKDIR ACCOUNTING: who we are, which Slurm, which partitions, our limits, and whether the
# base can be used.
need_slurm
find_base "$1"
partitions=$(ask sinfo -h -o '%P|%a') || exit
[ -d "$base" ] || fail 70 "workdir: $base does not exist on the login node"
[ -w "$base" ] || fail 70 "workdir: $me may not write in $base"
echo "version|$(sinfo --version </dev/null)"
echo "user|$me"
echo "host|$(uname -n)"
echo "base|$base"
grep '|' <<<"$partitions" | sort -u | sed 's/^/partition|/'
[ "$2" = 0 ] || limits
