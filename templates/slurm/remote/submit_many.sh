# submit_many.sh WORKDIR SET: many new runs at once, as submit.sh does one. On stdin a tar with
# `order` (lines RUN|NAME), records/RUN.json (the intents), created/RUN.json (with @JOB_ID@),
# runs/RUN/ and secrets/RUN.env. Prints for each run `job|RUN|<id>`, `taken|RUN` where something
# of it is there already (and nothing was done), or `refused|RUN|<what sbatch said, base64>`.
# What is behind a controller that went away is not printed: `away|<what it said, base64>`.
need_slurm
enter "$1" "$2"
mutex
stage=$state/stage
unpack "$stage"
rows=$(ask squeue -h -t all -u "$me" -o '%j') || exit
declare -A known=() ids=()
while IFS= read -r name; do
    [[ $name != "$2".* ]] || known[$name]=1
done <<<"$rows"
mkdir -p -- "$state/records" "$state/runs" "$state/secrets" "$stage/records" "$stage/runs" \
    "$stage/secrets" && chmod 700 "$state/secrets" || fail 70 "cannot write in $state"

runs=() names=() taken=()
while IFS='|' read -r run name; do
    if [ -e "$state/records/$run.json" ] || [ -e "$state/runs/$run" ] || [ -n "${known[$name]-}" ]; then
        taken+=("$run")
        rm -rf -- "$stage/records/$run.json" "$stage/runs/$run" "$stage/secrets/$run.env"
    else
        runs+=("$run") names+=("$name")
    fi
done <"$stage/order"
[ ${#taken[@]} -eq 0 ] || printf 'taken|%s\n' "${taken[@]}"
[ ${#runs[@]} -gt 0 ] || exit 0

# Everything of all of them is in its place before the first is submitted.
shopt -s nullglob
secrets=("$stage"/secrets/*)
[ ${#secrets[@]} -eq 0 ] || { chmod 600 "${secrets[@]}" && mv -f -- "${secrets[@]}" "$state/secrets/"; } ||
    fail 70 "cannot write in $state/secrets"
mv -f -- "$stage"/records/* "$state/records/" && mv -f -- "$stage"/runs/* "$state/runs/" ||
    fail 70 "cannot write in $state"
cd -- "$base" || fail 70 "cannot enter $base"
undo=() why=''
for at in "${!runs[@]}"; do
    run=${runs[at]}
    submit_job "${names[at]}" ".triplane/$2/runs/$run/job.sbatch"
    case $why in
        unsure) break ;; # the intent stays
        away)
            undo+=("${runs[@]:at}")
            break
            ;;
        refused)
            undo+=("$run")
            echo "refused|$run|$(base64 -w 0 <<<"$answer")"
            continue
            ;;
    esac
    IFS= read -r -d '' text <"$stage/created/$run.json"
    printf '%s' "${text/@JOB_ID@/$id}" >"$state/runs/$run/record.json"
    printf '%s' "${text/@JOB_ID@/$id}" >"$stage/created/$run.json"
    ids[$run]=$id
done
for run in ${undo[@]+"${undo[@]}"}; do
    rm -rf -- "$state/runs/$run" "$state/secrets/$run.env" "$state/records/$run.json"
done
done=()
for run in "${!ids[@]}"; do
    done+=("$stage/created/$run.json")
    echo "job|$run|${ids[$run]}"
done
[ ${#done[@]} -eq 0 ] || mv -f -- "${done[@]}" "$state/records/" || fail 70 "cannot write in $state/records"
case $why in
    unsure | away) echo "away|$(base64 -w 0 <<<"$answer")" ;;
esac
rm -rf -- "$stage"
