# The supervisor of one rank on EC2; the user data starts it as root, as systemd unit `triplane`.
#
# It prepares the node (files, secrets, container image), finds the other ranks, starts the
# launcher and stops it when another rank fails. job.env, beside it, says what the job is,
# peers.sh in which objects of the bucket the ranks meet; the output so far is in
# $RUN_URL/logs/<rank>.log.
#
# shellcheck disable=SC2329 # some functions are called through "retry"

SCRIPTS=/opt/triplane/scripts  # launcher.sh and what it runs
RANK_FOLDER=/opt/triplane/rank # what launcher and supervisor tell each other (platform.sh)
LOG=/var/log/triplane.log      # output of setup and run
BOOT_SECONDS=1800              # how long to wait for the other ranks to boot
GRACE_SECONDS=30               # between asking a rank to stop and killing it

export HOME=/root # systemd sets none
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/snap/bin
# What only some tasks need: job.env and the scripts that it names define these anew.
place_volumes() { :; }
place_secrets() { :; }
place_buckets() { :; }
flush_buckets() { :; }
check_notice() { :; }
check_idle() { :; }
finish_hooks() { :; }
start_logs() { :; }
stop_logs() { :; }

# shellcheck source=/dev/null
. "$SCRIPTS/job.env"
# shellcheck source=/dev/null
. "$SCRIPTS/node.sh"
# shellcheck source=/dev/null
. "$SCRIPTS/peers.sh"
for part in buckets git hooks idle logs volumes; do
    # shellcheck source=/dev/null
    [ ! -e "$SCRIPTS/$part.sh" ] || . "$SCRIPTS/$part.sh"
done

STOPPING= # why the launcher is being stopped: peer, lost, stopped, idle
LAUNCHER= # its process
LOST_WRITES= # set if what the task wrote did not all reach its buckets
BEATS=0

say() { printf 'supervisor: %s\n' "$*" | tee -a "$LOG" >&2; }

# retry COMMAND...: up to five times, for calls over the network.
retry() {
    local tries
    for tries in 1 2 4 8 0; do
        "$@" && return 0
        [ "$tries" -eq 0 ] || sleep "$tries"
    done
    return 1
}

metadata() {
    local token
    token=$(curl -fsS -X PUT -H 'X-aws-ec2-metadata-token-ttl-seconds: 60' \
        http://169.254.169.254/latest/api/token) || return
    curl -fsS -H "X-aws-ec2-metadata-token: $token" "http://169.254.169.254/latest/meta-data/$1"
}

heartbeat() {
    announce alive "$(date +%s)"
    [ ! -s "$LOG" ] || aws s3 cp --quiet "$LOG" "$RUN_URL/logs/$RANK.log"
}

meet() {
    local deadline=$(($(date +%s) + BOOT_SECONDS)) rank
    announce alive "$(date +%s)" && announce address "$ADDRESS" || return 1
    until look && all_have address; do
        check_peers
        [ -z "$STOPPING" ] || return 1
        if [ "$(date +%s)" -gt "$deadline" ]; then
            say "not all of $NODES ranks have booted within $BOOT_SECONDS seconds"
            return 1
        fi
        sleep 3
    done
    printf '%s\n' "$RANK" >"$RANK_FOLDER/number"
    for ((rank = 0; rank < NODES; rank++)); do
        cat "$STATE/$rank.address"
    done >"$RANK_FOLDER/addresses"
}

stop_launcher() {
    : >"$RANK_FOLDER/stop"
    say "stopping this rank ($STOPPING)"
    signal_launcher TERM
    local second
    for ((second = 0; second < GRACE_SECONDS; second++)); do
        kill -0 "$LAUNCHER" 2>/dev/null || return 0
        sleep 1
    done
    signal_launcher KILL
}

# watch: from the launcher's start to its end; its exit code is in CODE.
watch() {
    local ready=
    while kill -0 "$LAUNCHER" 2>/dev/null; do
        sleep 3
        if [ -z "$ready" ] && [ -e "$RANK_FOLDER/ready" ]; then
            announce ready 1 && ready=1
        fi
        # Before run every look counts, later one in four is enough.
        BEATS=$((BEATS + 1))
        if [ ! -e "$RANK_FOLDER/go" ] || [ $((BEATS % 4)) -eq 0 ]; then
            look
            check_peers
        fi
        check_notice
        check_idle
        if [ -n "$ready" ] && [ ! -e "$RANK_FOLDER/go" ] && all_have ready; then
            : >"$RANK_FOLDER/go"
        fi
        [ $((BEATS % 20)) -ne 0 ] || heartbeat
        if [ -n "$STOPPING" ]; then
            stop_launcher
            break
        fi
    done
    wait "$LAUNCHER"
    CODE=$?
    flush_buckets || LOST_WRITES=1
}

finish() {
    say "rank $RANK ended with exit code $1 ($2)"
    printf '%s %s\n' "$1" "$2" >"$STATE/$RANK.end"
    announce end "$1 $2"
    heartbeat
    # Rank 0 waits for the others that have booted; who finds it gone speaks in its place.
    local rank open=1
    while [ "$RANK" -eq 0 ] && [ "$open" -ne 0 ]; do
        look
        open=0
        for ((rank = 0; rank < NODES; rank++)); do
            if [ -s "$STATE/$rank.alive" ] && [ ! -s "$STATE/$rank.end" ] && ! is_lost "$rank"; then
                open=$((open + 1))
            fi
        done
        if [ "$open" -ne 0 ]; then
            sleep 10
            announce alive "$(date +%s)"
        fi
    done
    finish_hooks
    if [ "$RANK" -eq 0 ] || is_lost 0; then
        write_outcome
    fi
    stop_logs
    [ "$ENDS" -eq 0 ] || shutdown -h now
    exit "$1"
}

mkdir -p "$RANK_FOLDER" "$STATE"
trap 'STOPPING=stopped' TERM INT
if ! RANK=$(retry metadata tags/instance/triplane:rank) || ! ADDRESS=$(retry metadata local-ipv4); then
    say "the instance metadata does not tell the rank"
    [ "$ENDS" -eq 0 ] || shutdown -h now
    exit 1
fi
# A node that is made anew for a rank that has ended must not run the task a second time.
if [ "$ENDS" -ne 0 ] && look && [ -s "$STATE/$RANK.end" ]; then
    say "rank $RANK has ended before"
    shutdown -h now
    exit 0
fi
start_logs || say "no output goes to CloudWatch"
prepare_node || finish 1 prepare
if meet; then
    start_launcher
    watch
elif [ -z "$STOPPING" ]; then
    finish 1 boot
fi
case $STOPPING in
    peer | lost) finish 137 peer ;;
    stopped) finish 143 stopped ;;
    idle) ENDS=1 && finish 0 idle ;;
esac
if [ -s "$RANK_FOLDER/end" ]; then
    read -r _ PHASE <"$RANK_FOLDER/end"
fi
# Work whose results are lost has not succeeded.
if [ -n "$LOST_WRITES" ] && [ "$CODE" -eq 0 ]; then
    finish 1 flush
fi
finish "$CODE" "${PHASE:-launcher}"
