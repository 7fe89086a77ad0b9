# logs.sh WORKDIR SET RUN ID TAIL [FILE OFFSET]...: what has been written since, of every log of a
# run: `file|<name>|<offset now>|<text, base64>`. A file that is not named starts at the last
# TAIL lines, or at its beginning where TAIL is -1. Then `state|<the controller's word>`, which is
# older than the text: after a final state nothing more comes.
enter "$1" "$2"
folder=$state/runs/$3 id=$4 tail=$5
shift 5
declare -A seen=()
while [ $# -gt 1 ]; do
    seen[$1]=$2
    shift 2
done
# A controller that is away for a moment does not end the reading.
now=$(states_of "$id" 2>/dev/null) || now='?'
cd -- "$folder" 2>/dev/null || fail 70 "there is nothing left of this run in $folder"
nodes=$(sed -n 's/^#SBATCH \(--nodes=\|-N *\)\([0-9]*\).*/\2/p' job.sbatch 2>/dev/null | head -n 1)
echo "nodes|${nodes:-1}"
shopt -s nullglob
files=(slurm-*.out */slurm-*.out logs/*.log */logs/*.log)
[ ${#files[@]} -eq 0 ] || stat -L -c '%s %n' -- "${files[@]}" 2>/dev/null | while read -r size file; do
    from=${seen[$file]-}
    if [ -z "$from" ]; then
        from=0
        [ "$tail" = -1 ] || from=$((size - $(head -c "$size" -- "$file" | tail -n "$tail" | wc -c)))
    fi
    [ "$size" -ge "$from" ] || from=0 # written anew
    length=$((size - from))
    [ "$length" -le 4000000 ] || length=4000000
    [ "$length" -eq 0 ] ||
        echo "file|$file|$((from + length))|$(tail -c "+$((from + 1))" -- "$file" | head -c "$length" | base64 -w 0)"
done
echo "state|${now%%$'\n'*}"
