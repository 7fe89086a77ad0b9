# stop.sh WORKDIR SET RUN ID: exports the container's file system of each node of a running job to
# the shared file system; who calls it ends the job then. An export that was not finished counts
# for nothing.
need_slurm
enter "$1" "$2"
run=$3 id=$4
work=$state/work/$run
now=$(states_of "$id") || exit
[ "$now" = RUNNING ] || fail 70 "job $id is ${now:-gone}: only one that runs can be stopped"
[ -r "$work/container" ] && [ ! -e "$work/hosts.group" ] ||
    fail 70 "only a task alone, in a container, can be stopped and started"
nodes=$(wc -l <"$work/hostnames")
rm -rf -- "$work/snapshot.new" && mkdir -p -- "$work/snapshot.new" || fail 70 "cannot write in $work"
# shellcheck disable=SC2016 # for the shells on the nodes
answer=$(srun --jobid="$id" --overlap --nodes="$nodes" --ntasks="$nodes" --ntasks-per-node=1 bash -c \
    'enroot export --force --output "$2/$SLURM_PROCID.sqsh" "pyxis_$1"' \
    export "$(<"$work/container")" "$work/snapshot.new" 2>&1 </dev/null) ||
    fail 70 "the containers cannot be exported: $answer"
printf '%s nodes of job %s\n' "$nodes" "$id" >"$work/snapshot.new/manifest"
rm -rf -- "$work/snapshot" && mv -- "$work/snapshot.new" "$work/snapshot" &&
    put "$id" "$state/runs/$run/stopped" || fail 70 "cannot write in $work"
