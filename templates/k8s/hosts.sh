# shellcheck shell=bash
# The names of a group's tasks in /etc/hosts; sourced by platform.sh, which sets what k8s_group,
# k8s_group_service, k8s_group_prefix, k8s_state and k8s_peer_timeout say.
#
# `members` beside this file has a line for each rank: its name in the group and what DNS calls it.
# Who joined the group later has none, and is found by the group's Service. Names are looked up for
# as long as the rank runs, as a task that is started again has another address. What was found
# last stays: who has ended is not needed, and who comes back is found again.
#
# shellcheck disable=SC2154 # platform.sh sets them

k8s_hosts=/etc/hosts
k8s_hosts_every=5 # seconds
declare -A k8s_known=()

# A name's addresses, one a line, each once.
k8s_addresses() {
    local address _ known=' '
    { getent ahosts "$1" || getent hosts "$1"; } 2>/dev/null | while read -r address _; do
        [[ $known == *" $address "* ]] || printf '%s\n' "$address"
        known+="$address "
    done
}

k8s_update_hosts() {
    local name dns address text
    while read -r name dns; do
        address=$(k8s_addresses "$dns")
        [ -z "$address" ] || k8s_known[$name]=${address%%$'\n'*}
    done <"$FOLDER/members"
    k8s_find_joined
    text=$(<"$k8s_state/hosts")$'\n'"# The tasks of $k8s_group, written by triplane."
    for name in "${!k8s_known[@]}"; do
        text+=$'\n'"${k8s_known[$name]} $name"
    done
    # In place, as the file itself is what is mounted.
    [ "$text" = "$(<"$k8s_hosts")" ] || printf '%s\n' "$text" >"$k8s_hosts"
}

# Name servers tell the name of a host by its address: `<Job>-<rank>.<service>...`, where the Job of
# one that joined is called `<set>-<group>-<task>-<run>`, with `-task-0` behind it in a JobSet.
k8s_find_joined() {
    local address name rank known=" ${k8s_known[*]} "
    for address in $(k8s_addresses "$k8s_group_service"); do
        [[ $known != *" $address "* ]] || continue
        for name in $(getent hosts "$address" 2>/dev/null); do
            name=${name%%.*}
            [[ $name == "$k8s_group_prefix"-*-*-* && $name != "$k8s_group_service"-* ]] || continue
            rank=${name##*-}
            name=${name#"$k8s_group_prefix"-}
            name=${name%-*}
            name=${name%-task-0}
            k8s_known[${name%-*}-$rank.$k8s_group]=$address
        done
    done
}

# From now on until the rank ends.
k8s_keep_hosts() {
    if ! type -P getent >/dev/null; then
        say 'the image has no getent, by which the tasks of a group find each other'
        return 1
    fi
    [ -e "$k8s_state/hosts" ] || cp "$k8s_hosts" "$k8s_state/hosts" || return 1
    k8s_update_hosts
    (
        trap - TERM INT HUP USR1 USR2
        while sleep "$k8s_hosts_every"; do
            k8s_update_hosts
        done
    ) </dev/null >/dev/null 2>&1 &
}

# Auxiliary tasks tell success from a cancelled group by who is still there (linger.sh): a primary
# one that is stopped stays until they have looked.
k8s_leave() {
    if [ -n "${STOPPED:-}" ] && [ -e "$FOLDER/stays" ]; then
        sleep "$(<"$FOLDER/stays")"
    fi
}

# Until the first rank of every task is known. A task may well have ended by then, so that nothing
# fails when the time is up.
k8s_await_group() {
    local name _
    while read -r name _; do
        [[ $name == *-0.* ]] || continue
        while ! getent hosts "$name" >/dev/null; do
            if [ "$k8s_peer_timeout" -gt 0 ] && [ "$SECONDS" -ge "$k8s_peer_timeout" ]; then
                say "$name was not there within $k8s_peer_timeout seconds: going on without it"
                break
            fi
            sleep 1
        done
    done <"$FOLDER/members"
}
