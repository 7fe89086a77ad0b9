#!/bin/bash
# Stand-in for sbatch that lets the real one do its work, and ends the snippet that called it at
# the call whose number is in the file `at` beside it: `before` it was heard or `after`.
for word in "$@"; do
    [ "$word" != --test-only ] || exec /usr/bin/sbatch "$@"
done
folder=${0%/*}
echo x >>"$folder/count"
read -r at when <"$folder/at"
[ "$(wc -l <"$folder/count")" -eq "$at" ] || exec /usr/bin/sbatch "$@"
[ "$when" = before ] || /usr/bin/sbatch "$@"
kill -KILL "$(ps -o ppid= -p "$PPID" | tr -d " ")" "$PPID"
