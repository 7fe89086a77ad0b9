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
    name=${name%".${run%.*}"}
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
host=$(sed -n "$((rank + 1))p" "$work/hostnames" 2>/dev/null)
[ -n "$host" ] && [ -r "$work/enter.sh" ] ||
    fail 70 "there is no rank $rank, or it has not begun yet"
options=(--jobid="$job" --overlap --nodes=1 --ntasks=1 --nodelist="$host" --unbuffered)
[ "$terminal" = 0 ] || options+=(--pty)
names=()
[ ! -e "$work/scripts/names.sh" ] || names=(bash "$work/scripts/names.sh")
echo . >>"$work/used" || fail 70 "cannot write in $work"
umask 077
script=$(mktemp -- "$work/exec.XXXXXX") || fail 70 "cannot write in $work"
inner=$script.sh
# shellcheck disable=SC2016 # text for the shells that read it
{ # in the step, and in the image
    printf '. %q\n[ "$TRIPLANE_CONTAINER" = pyxis ] || export HOME=%q\n' "$work/enter.sh" "$work/home"
    printf 'cd /\nexec'
    printf ' %q' ${names[@]+"${names[@]}"} bash "$work/scripts/prologue.sh" exec "$work/scripts" "$rank"
    printf ' "$(<%q)" "$SLURM_JOB_ID" ' "$work/nodes"
    cat
    echo
} >"$inner" || fail 70 "cannot write $inner"
# shellcheck disable=SC2016 # likewise
{ # here
    printf 'trap "rm -f -- %q" EXIT\nrm -f -- %q\n. %q\n' "$inner" "$script" "$work/enter.sh"
    echo 'for name in "${!SLURM_@}"; do [ "$name" = SLURM_CONF ] || unset -v "$name"; done'
    declare -p PATH
    echo 'declare -F with_secrets >/dev/null || with_secrets() { exec "$@"; }'
    printf '(with_secrets srun'
    printf ' %q' "${options[@]}"
    printf ' "${ENTER[@]}" bash %q)\n' "$inner"
} >"$script" || fail 70 "cannot write $script"
echo "script|$(printf %s "$script" | base64 -w 0)"
