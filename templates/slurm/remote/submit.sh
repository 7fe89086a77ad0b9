# submit.sh WORKDIR SET RUN NAME: the run's files (tar on stdin: record.json with @JOB_ID@, run/,
# secrets.env) to where they belong, and one job of that NAME (for a pipeline one a task),
# however often this is called. Prints `job|<id>[,<id>]...|<new or found>`.
need_slurm
enter "$1" "$2"
run=$3 name=$4
record=$state/records/$run.json folder=$state/runs/$run secret=$state/secrets/$run.env
mutex
stage=$state/stage
unpack "$stage"
grep -q '"stage": "intent"' "$record" 2>/dev/null ||
    grep -q '"identity": "[0-9]' "$record" 2>/dev/null ||
    fail 74 "the record of $run is gone"

# existing: ids of what an earlier call submitted, which may have been cut off anywhere behind
# sbatch; first first, one a line.
existing() {
    local ids=''
    ids=$(jobs_named "$name") || exit
    if [ -z "$ids" ]; then
        ids=$(cat -- "$folder/started" "$folder/"*/started 2>/dev/null | cut -d ' ' -f 1)
    fi
    if [ -z "$ids" ] && [ -d "$folder" ]; then
        ids=$(sacct -n -P -X --format=JobID,State,NodeList -u "$me" -S now-366days "--name=$name" \
            2>/dev/null </dev/null | awk -F '[|_+]' '!/\|FAILED\|None assigned/ { print $1 }')
    fi
    sort -nu <<<"$ids"
}

# undo: nothing of this run is left, for the next one to take its number.
undo() {
    [ ${#ids[@]} -eq 0 ] || scancel "${ids[@]}" 2>/dev/null </dev/null
    rm -rf -- "$secret" "$folder" "$stage" && rm -f -- "$record" "$state/intents/$run"
}

# submit SCRIPT OPTION...: sets id, or answer to what sbatch said.
submit() {
    local script=$1 before
    shift
    id='' before=${#ids[@]}
    if answer=$(sbatch --parsable --job-name="$name" "$@" "$script" 2>&1 </dev/null); then
        id=$(grep -E '^[0-9]+(;.*)?$' <<<"$answer" | tail -n 1)
        id=${id%%;*}
    fi
    # A call that timed out may have been heard.
    for _ in 1 2 3; do
        [ -z "$id" ] && [[ $answer == *[Tt]'imed out'* || $answer == *'Zero Bytes'* ]] || break
        sleep 1
        id=$(existing) || exit
        id=$(sed -n "$((before + 1))p" <<<"$id")
    done
}

parts=('') # a pipeline has a script, and a job, for each of its tasks
[ ! -f "$stage/run/parts" ] || mapfile -t parts <"$stage/run/parts"
found=$(existing) || exit
ids=()
[ -z "$found" ] || mapfile -t ids <<<"$found"
[ ${#ids[@]} -eq 0 ] || ids=("${ids[@]:0:${#parts[@]}}")
how=found
if [ ${#ids[@]} -lt ${#parts[@]} ]; then
    how=new
    mkdir -p -- "$folder/logs" "$state/secrets" && chmod 700 "$state/secrets" &&
        cp -r -- "$stage"/run/. "$folder/" && cp -- "$stage/record.json" "$folder/" ||
        fail 70 "cannot write $folder"
    if [ -e "$stage/secrets.env" ]; then
        chmod 600 "$stage/secrets.env" && mv -f -- "$stage/secrets.env" "$secret" ||
            fail 70 "cannot write $secret"
    fi
    cd -- "$base" || fail 70 "cannot enter $base"
    group=$(sed -n "s/^GROUP_RUN='\(.*\)'\$/\1/p" "$folder/job.sbatch" 2>/dev/null | head -n 1)
    if [ -n "$group" ] && { [ ! -d "$state/runs/$group" ] || [ -e "$state/runs/$group/ended" ]; }; then
        undo
        fail 74 "the group that $run joins ($group) has ended"
    fi
fi
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
    part=${parts[${#ids[@]}]} after=()
    [ ${#ids[@]} -eq 0 ] || after=("--dependency=afterok:${ids[-1]}" --kill-on-invalid-dep=yes)
    submit ".triplane/$2/runs/$run/${part:+$part/}job.sbatch" ${after[@]+"${after[@]}"}
    if [ -z "$id" ]; then
        case $answer in
            *[Tt]'imed out'* | *'Zero Bytes'*) fail 69 "$answer" ;; # the intent stays
        esac
        undo
        case $answer in
            *'Unable to contact'*) fail 69 "$answer" ;;
        esac
        fail 73 "$answer"
    fi
    ids+=("$id")
done
id=$(IFS=, && printf %s "${ids[*]}")
if [ "$how" = new ] && [ -n "$group" ]; then
    mkdir -p -- "$state/runs/$group/joined" && : >"$state/runs/$group/joined/$id"
fi
text=$(<"$stage/record.json")
text=${text/@JOB_ID@/$id}
[ ! -d "$folder" ] || put "$text" "$folder/record.json"
put "$text" "$record"
rm -rf -- "$stage" "$state/intents/$run"
echo "job|$id|$how"
