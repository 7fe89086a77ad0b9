# The launcher's adapter on EC2. All that needs AWS is done by the rank's supervisor (supervisor.sh), on
# the instance itself; this side, which may run in the user's container, sees only a folder.
#
# shellcheck shell=bash disable=SC2034 # the variables are for launcher.sh

TRIPLANE_RANK_FOLDER=/opt/triplane/rank

platform_identify() {
    read -r NODE_RANK <"$TRIPLANE_RANK_FOLDER/number" || return 1
    NODE_IPS=$(<"$TRIPLANE_RANK_FOLDER/addresses")
}

platform_barrier() {
    : >"$TRIPLANE_RANK_FOLDER/ready"
    while [ ! -e "$TRIPLANE_RANK_FOLDER/go" ]; do
        [ ! -e "$TRIPLANE_RANK_FOLDER/stop" ] || return 1
        sleep 1
    done
}

platform_finish() {
    printf '%s %s\n' "$1" "$PHASE" >"$TRIPLANE_RANK_FOLDER/end"
}
