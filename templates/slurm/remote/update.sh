# update.sh WORKDIR SET RUN ID [FIELD=VALUE...]: changes a job that waits, then the run's files
# (tar on stdin: record.json, run/). Without fields only the files are written again.
need_slurm
enter "$1" "$2"
run=$3 id=$4
shift 4
mutex
unpack "$state/stage"
if [ $# -gt 0 ]; then
    now=$(states_of "$id") || exit
    [ "$now" = PENDING ] || fail 74 "job $id is ${now:-gone}, no longer PENDING"
    answer=$(scontrol update "jobid=$id" "$@" 2>&1 </dev/null) || fail 73 "$answer"
fi
folder=$state/runs/$run
mkdir -p -- "$folder/logs" && cp -- "$state/stage/record.json" "$folder/" || fail 70 "cannot write $folder"
for file in "$state"/stage/run/*; do
    mv -f -- "$file" "$folder/" || fail 70 "cannot write $folder"
done
put "$(<"$state/stage/record.json")" "$state/records/$run.json"
rm -rf -- "$state/stage"
