# collect.sh WORKDIR DAYS: removes file trees that no run needs any more: none that has not ended
# names them (that waits, is held, or may be started again), and nobody asked for them in so
# many days. Prints `collected|<sha256>`.
find_base "$1"
cd -- "$base/.triplane/files" 2>/dev/null || exit 0
shopt -s nullglob
old=$(find . -mindepth 1 -maxdepth 1 -type d -user "$me" -mtime "+$2" -name '[0-9a-f]*' | cut -c 3-)
[ -n "$old" ] || exit 0
# Of what cannot be read nothing is known, and so nothing is removed.
for state in "$base"/.triplane/*/records; do
    [ -r "$state" ] && [ -x "$state" ] || exit 0
done
needed=$(
    for record in "$base"/.triplane/*/records/*.json; do
        ! grep -q '^ "stage": "ended"' "$record" || continue
        run=${record##*/} run=${record%/records/*}/runs/${run%.json}
        cat /dev/null "$run"/job.sbatch "$run"/*/job.sbatch 2>/dev/null
    done | grep -o '/files/[0-9a-f]\{64\}' | sort -u
)
while IFS= read -r tree; do
    [[ $needed != *"/files/$tree"* ]] || continue
    # Somebody may have asked for it meanwhile.
    [ -n "$(find "$tree" -maxdepth 0 -mtime "+$2")" ] || continue
    gone=$(mktemp -d -- "./.gone.XXXXXX") && mv -- "$tree" "$gone/" && rm -rf -- "$gone" ||
        fail 70 "cannot remove $base/.triplane/files/$tree"
    echo "collected|$tree"
done <<<"$old"
