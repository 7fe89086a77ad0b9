# What the snippets that submit jobs share: finding what was submitted before, and the call itself.
# shellcheck shell=bash disable=SC2034 # what is set here is for the snippets that follow

# jobs_of NAME FOLDER: ids of all jobs of this user with that name, first first, from everything
# that knows of any: the controller (for some minutes after a job's end), the jobs' own notes in
# the run folder, and the accounting. Without the folder no job was ever submitted that the
# controller could have forgotten. Left out is what sbatch was refused for: Slurm keeps that for a
# while as FAILED, without nodes.
jobs_of() {
    local rows ids=''
    rows=$(ask squeue -h -t all -u "$me" -o 'job|%i|%T|%N|%j') || exit
    ids=$(awk -F '|' -v "want=$1" '$1 == "job" && !($3 == "FAILED" && $4 == "") {
        name = $0
        for (i = 1; i < 5; i++) sub(/^[^|]*\|/, "", name)
        sub(/[^0-9].*/, "", $2) # a member of an array, a component
        if (name == want) print $2
    }' <<<"$rows")
    if [ -d "$2" ]; then
        ids+=$'\n'$(cat -- "$2/started" "$2/"*/started 2>/dev/null | cut -d ' ' -f 1)
        ids+=$'\n'$(sacct -n -P -X --format=JobID,State,NodeList -u "$me" -S now-366days "--name=$1" \
            2>/dev/null </dev/null | awk -F '[|_+]' '!/\|FAILED\|None assigned/ { print $1 }')
    fi
    grep -E '^[0-9]+$' <<<"$ids" | sort -nu
}

# submit_job NAME SCRIPT OPTION...: one call of sbatch. Sets id; where it got none, answer to what
# was said and why to `refused`, to `away` (nobody heard it), or to `unsure` (it may be a job).
submit_job() {
    local name=$1 script=$2 line=$'(^|\n)([0-9]+)(;[^\n]*)?(\n|$)'
    shift 2
    id='' why=''
    if answer=$(sbatch --parsable --job-name="$name" "$@" "$script" 2>&1 </dev/null) && [[ $answer =~ $line ]]; then
        id=${BASH_REMATCH[2]}
        return
    fi
    case $answer in
        *[Tt]'imed out'* | *'Zero Bytes'*) why=unsure ;;
        *'Unable to contact'*) why=away ;;
        *) why=refused ;;
    esac
}

# give_up: ends the snippet as the last submit_job did.
give_up() {
    [ "$why" = refused ] || fail 69 "$answer"
    fail 73 "$answer"
}
