# lock.sh WORKDIR SET: takes the set's lock for the holder on stdin. Prints `locked|` or, if it is
# taken, `held|<holder, base64>`.
enter "$1" "$2"
mkdir -p -- "$state" || fail 70 "cannot make $state"
mine=$(mktemp -d -- "$state/lock.XXXXXX") && cat >"$mine/holder" || fail 70 "cannot write in $state"
# A folder with something in it cannot be renamed over: of two, one gets it.
if mv -T -- "$mine" "$state/lock" 2>/dev/null; then
    chmod 755 "$state/lock"
    echo 'locked|'
else
    rm -rf -- "$mine"
    [ -d "$state/lock" ] || fail 70 "cannot make $state/lock"
    echo "held|$(base64 -w 0 -- "$state/lock/holder" 2>/dev/null)"
fi
