# upload.sh WORKDIR SHA256: a file tree (gzipped tar on stdin) into its content-addressed folder.
find_base "$1"
target=$base/.triplane/files/$2
mkdir -p -- "$target.tmp" || fail 70 "cannot make $target.tmp"
# The folder itself is the lock, so that two uploads of one tree do not mix.
exec 8<"$target.tmp" && flock -w 3600 -E 75 8
[ $? -ne 75 ] || fail 75 "somebody else has been uploading $target for an hour"
if [ ! -d "$target" ]; then
    mkdir -p -- "$target.tmp" && find "$target.tmp" -mindepth 1 -delete &&
        tar -xzf - -C "$target.tmp" && mv -T -- "$target.tmp" "$target" ||
        fail 70 "cannot unpack into $target"
else
    rmdir -- "$target.tmp" 2>/dev/null
    cat >/dev/null
fi
exit 0
