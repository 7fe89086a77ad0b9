#!/bin/sh
# Waits until an address answers: at most ten minutes, so that a lost engine ends the group.
set -eu
for _ in $(seq 120); do
    curl --silent --fail --output /dev/null --max-time 2 "$1" && exit 0
    sleep 5
done
echo "no answer from $1" >&2
exit 1
