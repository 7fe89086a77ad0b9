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

names=() # of a group
[ ! -e "$folder/names.sh" ] || names=(bash "$folder/names.sh")

exec 3> >(
    trap '' TERM INT HUP USR1 USR2
    exec tee -a -- "$logs/$SLURM_PROCID.log"
)
tee=$!
"${names[@]}" bash "$folder/launcher.sh" "$phase" >&3 2>&3 3>&-
code=$?
exec 3>&-
for _ in 1 2 3 4 5 6 7 8 9 10; do
    kill -0 "$tee" 2>/dev/null || break
    sleep 0.2
done
kill -s KILL "$tee" 2>/dev/null
exit "$code"
