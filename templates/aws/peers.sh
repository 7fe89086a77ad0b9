# What the ranks of a run tell each other through the bucket, and what is made of it.
#
# Small objects below $RUN_URL/state/:
#   <rank>.address   the private address; the rank has booted
#   <rank>.ready     setup is done
#   <rank>.alive     seconds since 1970, renewed every minute
#   <rank>.end       "<exit code> <phase>"
#   <rank>.busy      when somebody was last on a node that is only kept
#   <rank>.preempted its instance will be taken away
# $RUN_URL/outcome.json is written last, when every rank has ended: what became of the run
# outlives the instances.
#
# shellcheck shell=bash disable=SC2153,SC2034,SC2329 # the rest is in job.env and supervisor.sh

STATE=/opt/triplane/state # copy of the objects of all ranks
LOST_SECONDS=600          # a rank that was not heard of for so long is gone

upload() { printf '%s\n' "$2" | aws s3 cp --quiet - "$1"; }
announce() { retry upload "$RUN_URL/state/$RANK.$1" "$2"; }
look() { aws s3 sync --quiet --exact-timestamps "$RUN_URL/state/" "$STATE/"; }

# all_have KIND: every rank has announced it.
all_have() {
    local rank
    for ((rank = 0; rank < NODES; rank++)); do
        [ -s "$STATE/$rank.$1" ] || return 1
    done
}

is_lost() {
    local seen
    [ "$1" -ne "$RANK" ] && [ ! -s "$STATE/$1.end" ] && [ -s "$STATE/$1.alive" ] || return 1
    read -r seen <"$STATE/$1.alive"
    [ $(($(date +%s) - seen)) -gt "$LOST_SECONDS" ]
}

# check_peers: sets STOPPING when another rank failed or vanished.
check_peers() {
    local rank code
    for ((rank = 0; rank < NODES; rank++)); do
        if is_lost "$rank"; then
            say "rank $rank was not heard of for $LOST_SECONDS seconds"
            STOPPING=lost
        elif [ "$rank" -ne "$RANK" ] && [ -s "$STATE/$rank.end" ]; then
            read -r code _ <"$STATE/$rank.end"
            [ "$code" -eq 0 ] || STOPPING=peer
        fi
    done
}

# write_outcome: the first rank that failed by itself, and not with another, gives the code.
write_outcome() {
    local rank code phase first_code=0 first_rank=0 first_phase=run outcome=succeeded
    for ((rank = 0; rank < NODES; rank++)); do
        code=1 phase=lost
        [ ! -s "$STATE/$rank.end" ] || read -r code phase <"$STATE/$rank.end"
        if [ "$code" -ne 0 ] && { [ "$first_code" -eq 0 ] || [ "$first_phase" = peer ]; }; then
            outcome=failed first_code=$code first_rank=$rank first_phase=$phase
        fi
    done
    retry upload "$RUN_URL/outcome.json" "{\"outcome\": \"$outcome\", \"exit_code\": $first_code,\
 \"rank\": $first_rank, \"phase\": \"$first_phase\"}"
}
