# One rank of one phase: the launcher, its output also kept in a log of the rank's own.
#
#   bash rank.sh setup|run LOGS
#
# The copy is made here and not by srun, so that a log has the rank's bytes as they were, and
# by a tee that outlives a signal, so that the last words get into it. A process that the task
# left behind may hold the pipe open; then the tee is ended after a moment, or srun would wait
# for its output for ever.

folder=${BASH_SOURCE[0]%/*}
phase=$1 logs=$2
trap : TERM INT HUP USR1 USR2 # this shell only waits
if [ "$SLURM_PROCID" = 0 ]; then
    printf '%s\n' "$SLURM_STEP_ID" >"${folder%/*}/step"
fi

# The names of a group's nodes: its own /etc/hosts, in a namespace where the rank is who it is.
enter=()
if [ -n "$TRIPLANE_GROUP_HOSTS" ] && [ -z "$TRIPLANE_CONTAINER" ]; then
    # shellcheck disable=SC2016 # for the shell inside
    enter=(
        unshare --user --map-root-user --mount bash -c
        'mount --bind "$1" /etc/hosts && exec unshare --user --map-user="$2" --map-group="$3" -- "${@:4}"'
        hosts "$TRIPLANE_GROUP_HOSTS" "$(id -u)" "$(id -g)"
    )
    if ! "${enter[@]}" true 2>/dev/null; then
        printf 'triplane: this host does not let users change what names resolve to\n' >&2
        enter=()
    fi
fi

exec 3> >(
    trap '' TERM INT HUP USR1 USR2
    exec tee -a -- "$logs/$SLURM_PROCID.log"
)
tee=$!
"${enter[@]}" bash "$folder/launcher.sh" "$phase" >&3 2>&3 3>&-
code=$?
exec 3>&-
for _ in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 "$tee" 2>/dev/null || break
    sleep 0.2
done
kill -s KILL "$tee" 2>/dev/null
exit "$code"
