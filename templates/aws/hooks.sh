# Hooks of the task: run by the supervisor of rank 0, outside of a container, in the variables and
# the folder of run. job.env says which there are for which event.
#
# shellcheck shell=bash disable=SC2153,SC2034,SC2329 # the rest is in node.sh and supervisor.sh

NOTICED= # set when a node of the run will be taken away
HOOKS=   # the process that runs hooks for that

# check_notice: EC2 announces two minutes ahead that it takes a spot instance back.
check_notice() {
    local rank
    if [ -z "$NOTICED" ] && metadata spot/instance-action >/dev/null 2>&1; then
        NOTICED=1
        say "EC2 takes this instance back"
        announce preempted 1
    fi
    [ "$RANK" -eq 0 ] && [ -z "$HOOKS" ] || return 0
    for ((rank = 0; rank < NODES; rank++)); do
        if [ -n "$NOTICED" ] || [ -s "$STATE/$rank.preempted" ]; then
            NOTICED=1
            run_hooks preemption &
            HOOKS=$!
            return
        fi
    done
}

# finish_hooks: what runs on rank 0 before its node is gone.
finish_hooks() {
    [ "$RANK" -eq 0 ] && [ -s "$RANK_FOLDER/addresses" ] || return 0
    if [ -n "$HOOKS" ]; then
        wait "$HOOKS"
    elif [ -z "$NOTICED" ]; then
        run_hooks down
    fi
}

# run_hook EVENT NUMBER SECONDS: a hook that fails or takes too long stops nothing.
run_hook() {
    local folder=$OWNER_HOME/.sky/hooks
    make_folder "$folder" || return 0
    (
        with_secrets setpriv --reuid "$OWNER" --regid "$OWNER" --init-groups \
            env -u AWS_DEFAULT_REGION HOME="$OWNER_HOME" USER="$OWNER" LOGNAME="$OWNER" \
            SHELL=/bin/bash SKYPILOT_HOOK_EVENT="$1" timeout -k 5 "$3" \
            bash "$SCRIPTS/prologue.sh" "hook-$2" "$SCRIPTS" "$RANK" \
            "$(<"$RANK_FOLDER/addresses")" ''
    ) >>"$folder/$1.log" 2>&1 </dev/null || say "hook $2 for $1 failed or took more than $3 seconds"
    chown "$OWNER" "$folder/$1.log"
}
