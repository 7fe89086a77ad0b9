# observe.sh WORKDIR SET ARTIFACTS ACCOUNTING [RUN]: everything there is to know of a set's runs,
# or of one run. Text, a line an item: `kind|...`. ARTIFACTS and ACCOUNTING are 0 or 1.
#
# The files are read before the queue: a job that is submitted in between is then seen in the
# queue without a record, and never the other way round.
need_slurm
enter "$1" "$2"
at_rest
set=$2. artifacts=$3 accounting=$4 only=${5-}
records=() folders=()

file_names() { # of the records and of what lies in the run folders, each with a NUL behind it
    [ ${#records[@]} -eq 0 ] || printf '%s\0' "${records[@]}"
    [ ${#folders[@]} -eq 0 ] ||
        find "${folders[@]}" -name logs -prune -o -type d -print0 -o '(' "${wanted[@]}" ')' -print0
}

job_ids() { # of runs whose records are not closed, and of those whose record is lost
    local folder key id
    [ ${#records[@]} -eq 0 ] || awk '
        function flush() { if (id != "" && !ended) print id; id = ""; ended = 0 }
        FNR == 1 { flush() }
        /^ "identity": "[0-9,]+"/ { id = $0; gsub(/"identity"|[^0-9,]/, "", id); sub(/,$/, "", id); gsub(",", "\n", id) }
        /^ "stage": "ended"/ { ended = 1 }
        END { flush() }
    ' "${records[@]}"
    for folder in "${folders[@]}"; do
        key=${folder%/} key=${key##*/}
        if [ -f "$folder/started" ] && [ ! -f "records/$key.json" ]; then
            ! read -r id _ <"$folder/started" || printf '%s\n' "$id"
        fi
    done
}

ours() { # FIELDS ID: rows of this set, by the job's name in the last field or by its id
    awk -F '|' -v "set=$set" -v "ids=,$ids," -v "fields=$1" -v "id=$2" '{
        name = $0
        for (i = 1; i < fields; i++) sub(/^[^|]*\|/, "", name)
        number = $id
        sub(/[^0-9].*/, "", number)
        if (index(name, set) == 1 || index(ids, "," number ",")) print
    }' | sort -u
}

missing() { # IDS COLUMN: those of the list that no row on stdin has in that column
    awk -F '|' -v "ids=$1" -v "id=$2" '
        { number = $id; sub(/[^0-9].*/, "", number); seen[number] = 1 }
        END {
            count = split(ids, want, ",")
            for (i = 1; i <= count; i++) if (!(want[i] in seen)) list = list "," want[i]
            print substr(list, 2)
        }'
}

echo "now|$(date +%s)"
echo "base|$base"
ids=
since=now-366days # nothing is recorded: look as far back as accounting is likely to go
if [ -d "$state/records" ] || [ -d "$state/runs" ]; then
    cd -- "$state" || fail 70 "cannot enter $state"
    since=now-30days
    [ ! -e lock ] || echo 'locked|'
    shopt -s nullglob
    if [ -n "$only" ]; then
        [ ! -f "records/$only.json" ] || records=("records/$only.json")
        [ ! -d "runs/$only" ] || folders=("runs/$only")
    else
        records=(records/*.json) folders=(runs/*/)
    fi
    for file in secrets/*.env; do
        file=${file##*/}
        echo "secret|${file%.env}"
    done
    for file in runs/*/.joined/*; do
        file=${file#runs/}
        echo "joined|${file%%/*}"
    done | sort -u
    wanted=(-name started -o -name ended -o -name parts -o -name stopped -o -name record.json)
    [ "$artifacts" = 0 ] || wanted=(-type f -not -name 'slurm-*.out')
    # Jobs write while they are looked at: tar then ends with 1, or with 2 where a file is gone.
    for _ in 1 2 3; do
        files=$(
            file_names | tar -cf - --no-recursion --null -T - | gzip -1 | base64 -w 0
            printf '|%s' "${PIPESTATUS[1]}"
        )
        [ "${files##*|}" -gt 1 ] || break
    done
    [ "${files##*|}" -le 1 ] || fail 70 "the records in $state cannot all be read"
    echo "files|${files%|*}"
    ids=$(job_ids | grep -E '^[0-9]+$' | sort -nu | paste -s -d , -)
fi

format='queue|%i|%T|%r|%V|%N|%P|%l|%q|%a|%y|%j'
export SLURM_TIME_FORMAT=%s
queue=$(ask squeue -h -t all -u "$me" -o "$format") || exit
others=$(missing "$ids" 2 <<<"$queue")
if [ -n "$others" ]; then # purged, or of somebody else who shares this base
    queue+=$'\n'$(ask squeue -h -t all -j "$others" -o "$format") || exit
fi
queue=$(grep '^queue|' <<<"$queue" | ours 12 2)
[ -z "$queue" ] || printf '%s\n' "$queue"

status=off words='' rows=''
if [ "$accounting" = 1 ]; then
    status=on
    columns=--format=JobID,State,ExitCode,NodeList,JobName
    words=$(sacct -n -P -X "$columns" -u "$me" -S "$since" 2>&1 </dev/null) || status=away
    rows=$words
    others=$(missing "$ids" 1 <<<"$rows")
    if [ -n "$others" ] && [ "$status" = on ]; then
        words=$(sacct -n -P -X "$columns" -j "$others" 2>&1 </dev/null) || status=away
        rows+=$'\n'$words
    fi
    [[ $words != *'accounting storage is disabled'* ]] || status=off
fi
if [ "$status" = on ]; then
    echo 'accounting|on|'
    grep -E '^[0-9]+([_+][^|]*)?\|' <<<"$rows" | ours 5 1 | sed 's/^/account|/'
else
    echo "accounting|$status|${words##*$'\n'}"
    # The controller alone knows then how a job was ended from outside.
    [ -z "$queue" ] || squeue -h -t all -u "$me" -O 'JobID:20,exit_code:12' 2>/dev/null </dev/null |
        awk 'NF == 2 { print "exit|" $1 "|" $2 }'
fi
exit 0
