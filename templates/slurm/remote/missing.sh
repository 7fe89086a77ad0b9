# missing.sh WORKDIR [SHA256...]: prints `missing|<sha256>` for each file tree that is not there.
find_base "$1"
shift
for digest; do
    # What is asked for is not collected for a while.
    touch -c -- "$base/.triplane/files/$digest" 2>/dev/null
    [ -d "$base/.triplane/files/$digest" ] || echo "missing|$digest"
done
