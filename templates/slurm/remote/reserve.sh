# reserve.sh WORKDIR SET RUN MODE [SHA256...]: takes the run's number by writing its record (the
# intent on stdin), unless there is one. MODE says in which state a run that this one replaces
# may be ended; it is kept beside the record and not changed by a second try.
# Prints `reserved|` or `taken|<record, base64>`, `mode|...`, `missing|<sha256>` for file trees.
need_slurm
enter "$1" "$2"
run=$3 mode=$4
shift 4
intent=$(cat)
mutex
record=$state/records/$run.json
if [ -e "$record" ]; then
    taken=$(base64 -w 0 -- "$record") || fail 70 "cannot read $record"
    echo "taken|$taken"
else
    [ ! -e "$state/runs/$run" ] || fail 74 "$state/runs/$run is there, but its record is not"
    put "$mode" "$state/intents/$run"
    put "$intent" "$record"
    echo 'reserved|'
fi
[ ! -r "$state/intents/$run" ] || echo "mode|$(<"$state/intents/$run")"
for digest; do
    # What is asked for is not collected for a while.
    touch -c -- "$base/.triplane/files/$digest" 2>/dev/null
    [ -d "$base/.triplane/files/$digest" ] || echo "missing|$digest"
done
