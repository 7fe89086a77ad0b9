# start.sh WORKDIR SET RUN NAME: submits the script of a stopped run again, under its number; its new
# record with @JOB_ID@ is on stdin. Prints `job|<id>`.
need_slurm
enter "$1" "$2"
run=$3 name=$4
record=$(cat)
mutex
folder=$state/runs/$run
[ -e "$folder/stopped" ] && [ -e "$state/work/$run/snapshot/manifest" ] ||
    fail 74 "$run is not stopped"
cd -- "$base" || fail 70 "cannot enter $base"
# An earlier call may have been cut off behind sbatch.
rows=$(ask squeue -h -u "$me" -o '%i|%j') || exit
id=$(awk -F '|' -v "want=$name" '$2 == want { print $1 }' <<<"$rows" | head -n 1)
if [ -z "$id" ]; then
    answer=$(sbatch --parsable --job-name="$name" ".triplane/$2/runs/$run/job.sbatch" 2>&1 </dev/null) ||
        case $answer in
            *'Unable to contact'* | *[Tt]'imed out'* | *'Zero Bytes'*) fail 69 "$answer" ;;
            *) fail 73 "$answer" ;;
        esac
    id=$(grep -E '^[0-9]+(;.*)?$' <<<"$answer" | tail -n 1)
    id=${id%%;*}
fi
put "${record/@JOB_ID@/$id}" "$folder/record.json"
put "${record/@JOB_ID@/$id}" "$state/records/$run.json"
rm -f -- "$folder/stopped" "$folder/ended"
echo "job|$id"
