# submit.sh WORKDIR SET RUN NAME: the run's files (tar on stdin: record.json with @JOB_ID@, run/,
# secrets.env) to where they belong, and one job of that NAME, however often this is called.
# Prints `job|<id>|<new or found>`.
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

# An earlier call may have been cut off anywhere behind sbatch.
existing() {
    local id=''
    id=$(jobs_named "$name") || exit
    if [ -z "$id" ] && [ -f "$folder/started" ]; then
        read -r id _ <"$folder/started"
    fi
    if [ -z "$id" ] && [ -d "$folder" ]; then
        id=$(sacct -n -P -X --format=JobID,State,NodeList -u "$me" -S now-366days "--name=$name" \
            2>/dev/null </dev/null | awk -F '[|_+]' '!/\|FAILED\|None assigned/ { print $1 }')
    fi
    printf '%s\n' "${id%%$'\n'*}"
}

how=found
id=$(existing) || exit
if [ -z "$id" ]; then
    how=new
    mkdir -p -- "$folder/logs" "$state/secrets" && chmod 700 "$state/secrets" &&
        mv -f -- "$stage"/run/* "$folder/" && cp -- "$stage/record.json" "$folder/" ||
        fail 70 "cannot write $folder"
    if [ -e "$stage/secrets.env" ]; then
        chmod 600 "$stage/secrets.env" && mv -f -- "$stage/secrets.env" "$secret" ||
            fail 70 "cannot write $secret"
    fi
    cd -- "$base" || fail 70 "cannot enter $base"
    if answer=$(sbatch --parsable --job-name="$name" ".triplane/$2/runs/$run/job.sbatch" 2>&1 </dev/null); then
        id=$(grep -E '^[0-9]+(;.*)?$' <<<"$answer" | tail -n 1)
        id=${id%%;*}
    fi
    # A call that timed out may have been heard.
    for _ in 1 2 3; do
        [ -z "$id" ] && [[ $answer == *[Tt]'imed out'* || $answer == *'Zero Bytes'* ]] || break
        sleep 1
        id=$(existing) || exit
    done
    if [ -z "$id" ]; then
        rm -rf -- "$stage"
        case $answer in
            *[Tt]'imed out'* | *'Zero Bytes'*) fail 69 "$answer" ;; # the intent stays
        esac
        rm -rf -- "$secret" "$folder" && rm -f -- "$record" "$state/intents/$run"
        case $answer in
            *'Unable to contact'*) fail 69 "$answer" ;;
        esac
        fail 73 "$answer"
    fi
fi
text=$(<"$stage/record.json")
text=${text/@JOB_ID@/$id}
[ ! -d "$folder" ] || put "$text" "$folder/record.json"
put "$text" "$record"
rm -rf -- "$stage" "$state/intents/$run"
echo "job|$id|$how"
