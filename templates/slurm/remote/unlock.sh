# unlock.sh WORKDIR SET WHOSE: gives the lock back, if the holder on stdin has it (WHOSE mine) or
# whoever has it (WHOSE any). Prints `held|<holder, base64>` if there was a lock.
enter "$1" "$2"
[ -d "$state/lock" ] || exit 0
holder=$(base64 -w 0 -- "$state/lock/holder" 2>/dev/null)
echo "held|$holder"
[ "$3" = any ] || [ "$holder" = "$(base64 -w 0)" ] || exit 0
gone=$(mktemp -d -- "$state/unlock.XXXXXX") && mv -- "$state/lock" "$gone/" && rm -rf -- "$gone" ||
    fail 70 "cannot remove $state/lock"
