# attach.sh WORKDIR SET RUN ID RANK TERMINAL: makes the script that runs a command beside a rank's
# own, as a step of the job. The command's words, quoted for bash, are on stdin. Of a group ranks
# are counted through its tasks. Prints `script|<path, base64>`; the script removes itself.
need_slurm
enter "$1" "$2"
run=$3 id=$4 rank=$5 terminal=$6
work=$state/work/$run job=$id
now=$(states_of "$id") || exit
case $now in
    *RUNNING*) ;;
    *) fail 70 "job $id is ${now:-gone}: a command can only run beside one that runs" ;;
esac
if [ -f "$work/hosts.group" ]; then
    name=$(sed -n "$((rank + 1))s/.* //p" "$work/hosts.group")
    name=${name%.*}
    work=$work/${name%-*} rank=${name##*-}
fi
if [ -f "$state/runs/$run/parts" ]; then # the task of a pipeline that is running
    at=0
    while read -r name; do
        at=$((at + 1))
        job=$(cut -d , -f "$at" <<<"$id")
        [ "$(states_of "$job")" != RUNNING ] || break
    done <"$state/runs/$run/parts"
    work=$work/$name
fi
if [ ! -f "$work/hostnames" ] && [ -f "$state/runs/$run/$rank/started" ]; then # of an array
    job=$(tail -n 1 "$state/runs/$run/$rank/started")
    job=${job%% *} work=$work/$rank rank=0
fi
[ ! -r "$work/job" ] || job=$(<"$work/job")
host=$(sed -n "$((rank + 1))p" "$work/hostnames" 2>/dev/null)
[ -n "$host" ] || fail 70 "there is no rank $rank, or it has not begun yet"
options=(--jobid="$job" --overlap --nodes=1 --ntasks=1 --nodelist="$host" --unbuffered)
[ "$terminal" = 0 ] || options+=(--pty)
if [ -r "$work/container" ]; then
    options+=(--container-name="$(<"$work/container"):exec" --container-remap-root)
    home=
else
    home=$work/home
fi
umask 077
script=$(mktemp -- "$work/exec.XXXXXX") || fail 70 "cannot write in $work"
inner=$script.sh
# shellcheck disable=SC2016 # text for the shells that read it
{
    printf 'set -a\n[ ! -r %q ] || . %q\nset +a\n' "$state/secrets/$run.env" "$state/secrets/$run.env"
    [ -z "$home" ] || printf 'export HOME=%q\n' "$home"
    printf 'cd /\nexec bash %q exec %q %q "$(<%q)" "$SLURM_JOB_ID" ' \
        "$work/scripts/prologue.sh" "$work/scripts" "$rank" "$work/nodes"
    cat
    echo
} >"$inner" || fail 70 "cannot write $inner"
# shellcheck disable=SC2016 # likewise
{
    echo 'for name in "${!SLURM_@}"; do [ "$name" = SLURM_CONF ] || unset -v "$name"; done'
    printf 'trap "rm -f -- %q" EXIT\n' "$inner"
    printf 'rm -f -- %q\n' "$script"
    declare -p PATH
    printf 'srun'
    printf ' %q' "${options[@]}" bash "$inner"
    echo
} >"$script" || fail 70 "cannot write $script"
echo "script|$(printf %s "$script" | base64 -w 0)"
