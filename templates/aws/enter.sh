# enter.sh COMMAND...: runs COMMAND beside the rank's own, in the environment and folder of its run.
#
# Session Manager and Run Command start it as root, for `triplane exec` and `triplane shell`.
#
# shellcheck shell=bash

SCRIPTS=/opt/triplane/scripts
RANK_FOLDER=/opt/triplane/rank
export HOME=/root # a service has none

say() { printf 'enter: %s\n' "$*" >&2; }

# shellcheck source=/dev/null
. "$SCRIPTS/job.env"
# shellcheck source=/dev/null
. "$SCRIPTS/node.sh"

if [ ! -s "$RANK_FOLDER/number" ] || [ -s "$RANK_FOLDER/end" ]; then
    say "the rank's run does not run (yet, or any more)"
    exit 1
fi
prologue=(bash "$SCRIPTS/prologue.sh" exec "$SCRIPTS" "$(<"$RANK_FOLDER/number")"
    "$(<"$RANK_FOLDER/addresses")" "" "$@")
if [ -n "$CONTAINER_IMAGE" ]; then
    terminal=()
    [ ! -t 0 ] || terminal=(--interactive --tty)
    exec docker exec "${terminal[@]}" triplane "${prologue[@]}"
fi
# What the launcher was given, secrets among it, is in no file.
launcher=$(pgrep -o -f "^bash $SCRIPTS/launcher.sh all") || { say "the launcher is gone" && exit 1; }
mapfile -d '' -t given <"/proc/$launcher/environ"
exec setpriv --reuid "$OWNER" --regid "$OWNER" --init-groups env -i "${given[@]}" "${prologue[@]}"
