# Runs a task's setup and run as one rank, the same way on every platform.
#
#   bash launcher.sh setup    the user's setup text on this node
#   bash launcher.sh run      the user's run text as this rank
#   bash launcher.sh all      setup, the barrier over all ranks, run
#
# It ends with the user's exit code. The files beside it: prologue.sh (what stands before the
# user's text), setup.sh and run.sh (the user's, byte for byte; absent where the task has
# none), task.env, and platform.sh, which defines
#
#   platform_identify      sets NODE_RANK and NODE_IPS (one a line, in rank order), may set JOB_NUMBER
#   platform_barrier       returns 0 once setup is done on all ranks (called by "all" only)
#   platform_finish CODE   reports how this rank ended; $PHASE says where (identify, setup,
#                          barrier, run), $STOPPED is set if a signal from outside ended it
#
# and may set SIGNALS_REACH_ALL=1 where the platform itself signals every process of a rank.
# Commands in these functions should be short (a poll and a sleep of a second or so): bash
# looks at a signal only between two commands.
#
# Bash 4.2 or newer, without -e, -u and pipefail: images differ in what they set.
#
# shellcheck disable=SC2034,SC2329 # PHASE is for platform.sh, on_signal for traps

# The image, the platform or a secret may have variables of these names, too: the user's text
# gets them as they came.
_tp_given=()
for _tp_name in FOLDER NODE_RANK NODE_IPS JOB_NUMBER SIGNALS_REACH_ALL CHILD SIGNALLED STOPPED \
    PHASE MODE CODE signal; do
    [ -z "${!_tp_name+set}" ] || _tp_given+=("$_tp_name=${!_tp_name}")
done

FOLDER=${BASH_SOURCE[0]%/*}
[ "$FOLDER" != "${BASH_SOURCE[0]}" ] || FOLDER=.
FOLDER=$(CDPATH='' cd -- "$FOLDER" && pwd) || exit 1

NODE_RANK=
NODE_IPS=
JOB_NUMBER=
SIGNALS_REACH_ALL=
CHILD=     # process group of the user's text while it runs
SIGNALLED= # a signal came since the last look
STOPPED=   # the exit code of a signal that ends the rank
PHASE=identify

say() { printf 'launcher: %s\n' "$*" >&2; }

# A signal goes to the whole group: bash itself does not pass it on to the command it waits for.
on_signal() {
    SIGNALLED=$1
    if [ -n "$CHILD" ] && [ -z "$SIGNALS_REACH_ALL" ]; then
        kill -s "$1" -- "-$CHILD" 2>/dev/null
    fi
    case $1 in
        TERM) STOPPED=143 ;;
        INT) STOPPED=130 ;;
        HUP) STOPPED=129 ;;
    esac
    # Between two commands of the user there is nobody else to end the rank.
    if [ -n "$STOPPED" ] && [ -z "$CHILD" ]; then
        finish "$STOPPED"
    fi
}

# supervise COMMAND...: runs it in a process group of its own, passes signals on, waits for it,
# and after a signal for all it left behind; the result is in CODE.
supervise() {
    set -m
    "$@" </dev/null &
    CHILD=$!
    set +m
    if [ -n "$STOPPED" ]; then # the signal came before CHILD was known
        kill -s TERM -- "-$CHILD" 2>/dev/null
    fi
    while :; do
        SIGNALLED=
        CODE=0
        # Bash reports a job killed by a signal on stderr; the exit code says it already.
        wait "$CHILD" 2>/dev/null || CODE=$?
        # A trapped signal interrupts wait; then CODE is not the child's.
        [ -n "$SIGNALLED" ] || break
    done
    while [ -n "$STOPPED" ] && kill -0 -- "-$CHILD" 2>/dev/null; do
        sleep 0.2 || sleep 1
    done
    CHILD=
}

# as_given COMMAND...: becomes COMMAND, with the variables that were there before.
as_given() {
    for _tp_name in "${_tp_given[@]}"; do
        export "${_tp_name?}"
    done
    exec "$@"
}

# run_text NAME: the user's text of this phase as a process of its own; its code is in CODE.
run_text() {
    CODE=0
    [ -e "$FOLDER/$1.sh" ] || return 0
    supervise as_given "$BASH" "$FOLDER/prologue.sh" "$1" "$FOLDER" "$NODE_RANK" "$NODE_IPS" "$JOB_NUMBER"
}

# A task without run keeps its node: 68 years, as not every sleep knows "infinity".
hold() {
    say "the task has no run: keeping the node until it is taken away"
    supervise sleep 2147483647
    [ -z "$STOPPED" ] || CODE=0
}

run_or_hold() {
    PHASE=run
    if [ -e "$FOLDER/run.sh" ]; then run_text run; else hold; fi
}

finish() {
    trap - TERM INT HUP
    platform_finish "$1"
    exit "$1"
}

MODE=$1
case $MODE in
    setup | run | all) ;;
    *)
        say "usage: launcher.sh setup|run|all"
        exit 64
        ;;
esac

# shellcheck source=/dev/null
. "$FOLDER/platform.sh" || exit 1
for signal in TERM INT HUP USR1 USR2; do
    # shellcheck disable=SC2064 # the name is meant to be expanded now
    trap "on_signal $signal" "$signal"
done

if ! platform_identify || [ -z "$NODE_RANK" ]; then
    say "cannot tell which rank this is"
    finish 1
fi
case $MODE in
    setup)
        PHASE=setup
        run_text setup
        ;;
    run) run_or_hold ;;
    all)
        PHASE=setup
        run_text setup
        if [ "$CODE" -ne 0 ]; then
            say "setup failed with exit code $CODE"
            finish "$CODE"
        fi
        PHASE=barrier
        if ! platform_barrier; then
            say "setup did not succeed on all ranks: run is not started"
            finish 1
        fi
        run_or_hold
        ;;
esac
finish "$CODE"
