# start.sh WORKDIR SET RUN NAME ID: submits the script of a run whose job ID was stopped again, under
# its number; its new record with @JOB_ID@ is on stdin. Prints `job|<id>`.
need_slurm
enter "$1" "$2"
run=$3 name=$4 stopped=$5
record=$(cat)
mutex
folder=$state/runs/$run
[ -e "$folder/stopped" ] && [ -e "$state/work/$run/snapshot/manifest" ] ||
    fail 74 "$run is not stopped"
cd -- "$base" || fail 70 "cannot enter $base"
# An earlier call may have been cut off behind sbatch: its job came after the one that was stopped.
found=$(jobs_of "$name" "$folder") || exit
id=$(awk -v "stopped=$stopped" '$1 > stopped + 0' <<<"$found" | tail -n 1)
if [ -z "$id" ]; then
    submit_job "$name" ".triplane/$2/runs/$run/job.sbatch"
    [ -n "$id" ] || give_up
fi
put "${record/@JOB_ID@/$id}" "$folder/record.json"
put "${record/@JOB_ID@/$id}" "$state/records/$run.json"
rm -f -- "$folder/stopped" "$folder/ended"
echo "job|$id"
