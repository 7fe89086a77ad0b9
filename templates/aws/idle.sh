# Nodes that are only kept end when they have been idle for a while (autostop).
#
# A node is in use while Session Manager has a session or a command on it: `triplane shell` and
# `triplane exec` do. It tells the others by <rank>.busy, seconds since 1970.
#
# shellcheck shell=bash disable=SC2153,SC2034,SC2329 # the rest is in job.env and supervisor.sh

KEPT_SINCE= # seconds since 1970; from when on the node is kept
TOLD=0      # when the others were last told that this one is in use

# check_idle: sets STOPPING when no rank was in use for IDLE_MINUTES.
check_idle() {
    local rank seen now newest
    now=$(date +%s)
    [ -e "$RANK_FOLDER/go" ] || return 0
    : "${KEPT_SINCE:=$now}"
    if [ "$IDLE_SESSIONS" -ne 0 ] && pgrep -f 'ssm-(session|document)-worker' >/dev/null; then
        if [ $((now - TOLD)) -ge 30 ]; then
            announce busy "$now" && TOLD=$now
        fi
        return
    fi
    newest=$((TOLD > KEPT_SINCE ? TOLD : KEPT_SINCE))
    for ((rank = 0; rank < NODES; rank++)); do
        if [ -s "$STATE/$rank.busy" ]; then
            read -r seen <"$STATE/$rank.busy"
            newest=$((seen > newest ? seen : newest))
        fi
    done
    if [ $((now - newest)) -ge $((IDLE_MINUTES * 60)) ]; then
        say "nobody was here for $IDLE_MINUTES minutes"
        STOPPING=idle
    fi
}
