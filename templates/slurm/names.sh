# Becomes a command that knows the names of a group's nodes.
#
#   bash names.sh COMMAND...
#
# A container has them mounted as its /etc/hosts. Outside of one it is a file system namespace that
# has them, in which the command is who it was.

if [ -n "$TRIPLANE_GROUP_HOSTS" ] && [ -z "$TRIPLANE_CONTAINER" ]; then
    # shellcheck disable=SC2016 # for the shell inside
    enter=(
        unshare --user --map-root-user --mount bash -c
        'mount --bind "$1" /etc/hosts && exec unshare --user --map-user="$2" --map-group="$3" -- "${@:4}"'
        hosts "$TRIPLANE_GROUP_HOSTS" "$(id -u)" "$(id -g)"
    )
    if "${enter[@]}" true 2>/dev/null; then
        exec "${enter[@]}" "$@"
    fi
    printf 'triplane: this host does not let users change what names resolve to\n' >&2
fi
exec "$@"
