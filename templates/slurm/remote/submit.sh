# submit.sh WORKDIR SET RUN NAME HOW GROUP: one job of that NAME (for a pipeline one a task), however
# often this is called. HOW is `new`: the run's files (tar on stdin: record.json with @JOB_ID@, run/,
# secrets.env) are put where they belong first, or `rest`: they are there, and not all of a
# pipeline's jobs. GROUP is the run that the job joins, or empty.
# Prints `job|<id>[,<id>]...|<new or found>`.
need_slurm
enter "$1" "$2"
run=$3 name=$4 how=$5 group=$6
record=$state/records/$run.json folder=$state/runs/$run secret=$state/secrets/$run.env
mutex
stage=$state/stage
grep -q '"stage": "intent"' "$record" 2>/dev/null ||
    grep -q '"identity": "[0-9]' "$record" 2>/dev/null ||
    fail 74 "the record of $run is gone"

# undo: nothing of this run is left, for the next one to take its number.
undo() {
    [ ${#ids[@]} -eq 0 ] || scancel "${ids[@]}" 2>/dev/null </dev/null
    rm -rf -- "$secret" "$folder" "$stage" && rm -f -- "$record" "$state/intents/$run"
}

files=$folder written=$folder/record.json
if [ "$how" = new ]; then
    unpack "$stage"
    files=$stage/run written=$stage/record.json
fi
parts=('') # a pipeline has a script, and a job, for each of its tasks
[ ! -f "$files/parts" ] || mapfile -t parts <"$files/parts"
ids=()
found=$(jobs_of "$name" "$folder") || exit
[ -z "$found" ] || mapfile -t ids <<<"$found"
[ ${#ids[@]} -eq 0 ] || ids=("${ids[@]:0:${#parts[@]}}")
if [ ${#ids[@]} -eq ${#parts[@]} ]; then
    how=found
elif [ "$how" = new ]; then
    mkdir -p -- "$folder/logs" "$state/secrets" && chmod 700 "$state/secrets" &&
        cp -r -- "$stage"/run/. "$folder/" && cp -- "$stage/record.json" "$folder/" ||
        fail 70 "cannot write $folder"
    if [ -e "$stage/secrets.env" ]; then
        chmod 600 "$stage/secrets.env" && mv -f -- "$stage/secrets.env" "$secret" ||
            fail 70 "cannot write $secret"
    fi
    if [ -n "$group" ] && { [ ! -d "$state/runs/$group" ] || [ -e "$state/runs/$group/ended" ]; }; then
        undo
        fail 74 "the group that $run joins ($group) has ended"
    fi
fi
cd -- "$base" || fail 70 "cannot enter $base"
# What Slurm would refuse of a pipeline is known before any of it is submitted.
for part in "${parts[@]}"; do
    [ "$how" = new ] && [ ${#ids[@]} -eq 0 ] && [ -n "$part" ] || continue
    answer=$(sbatch --test-only ".triplane/$2/runs/$run/$part/job.sbatch" 2>&1 </dev/null) || {
        undo
        case $answer in
            *'Unable to contact'* | *[Tt]'imed out'*) fail 69 "$answer" ;;
        esac
        fail 73 "$answer"
    }
done
while [ ${#ids[@]} -lt ${#parts[@]} ]; do
    at=${#ids[@]} after=()
    # The one before may have ended while nobody went on; then Slurm may know it no more.
    if [ "$at" -gt 0 ] && ! grep -qx "0 ${ids[-1]}" "$folder/${parts[at - 1]}/ended" 2>/dev/null; then
        after=("--dependency=afterok:${ids[-1]}" --kill-on-invalid-dep=yes)
    fi
    submit_job "$name" ".triplane/$2/runs/$run/${parts[at]:+${parts[at]}/}job.sbatch" ${after[@]+"${after[@]}"}
    for _ in 1 2 3; do # a call that timed out may have been heard
        [ "$why" = unsure ] || break
        sleep 1
        found=$(jobs_of "$name" "$folder") || exit
        id=$(sed -n "$((at + 1))p" <<<"$found")
        [ -z "$id" ] || why=''
    done
    if [ -n "$why" ]; then
        [ "$why" = unsure ] || undo # else the intent stays
        give_up
    fi
    ids+=("$id")
done
id=$(IFS=, && printf %s "${ids[*]}")
if [ -n "$group" ] && [ -d "$state/runs/$group" ]; then
    mkdir -p -- "$state/runs/$group/.joined" && : >"$state/runs/$group/.joined/$id"
fi
text=$(<"$written")
text=${text/@JOB_ID@/$id}
[ ! -d "$folder" ] || put "$text" "$folder/record.json"
put "$text" "$record"
rm -rf -- "$stage" "$state/intents/$run"
echo "job|$id|$how"
