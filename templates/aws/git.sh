# A working directory that is a git repository: cloned on every node, before anything is placed
# in it.
#
# shellcheck shell=bash disable=SC2153,SC2329 # the rest is in node.sh and supervisor.sh

clone_workdir() {
    command -v git >/dev/null || install_package git || return
    target_of \~/sky_workdir
    make_folder "${TARGET%/*}"
    retry clone_into "$TARGET" || return
    GIT_COMMIT_HASH=$(git -C "$TARGET" rev-parse HEAD) || return
    export GIT_URL GIT_COMMIT_HASH
    CONTAINER_ARGUMENTS+=(--env GIT_URL --env GIT_COMMIT_HASH)
    chown -R "$OWNER" "$TARGET"
}

# clone_into FOLDER: credentials among the task's secrets reach git's environment alone.
clone_into() (
    rm -rf "$1"
    export GIT_URL GIT_REF GIT_TERMINAL_PROMPT=0
    # shellcheck disable=SC2016 # what runs there expands it
    with_secrets bash -c '
        helper="!f() { [ -z \"\$GIT_TOKEN\" ] || printf \"username=git\npassword=%s\n\" \"\$GIT_TOKEN\"; }; f"
        if [ -n "$GIT_SSH_KEY" ]; then
            key=$(mktemp) && trap "rm -f $key" EXIT && printf "%s\n" "$GIT_SSH_KEY" >"$key" || exit
            export GIT_SSH_COMMAND="ssh -i $key -o IdentitiesOnly=yes -o StrictHostKeyChecking=accept-new"
        fi
        git -c "credential.helper=$helper" clone --quiet "$GIT_URL" "$0" || exit
        [ -z "$GIT_REF" ] || git -C "$0" checkout --quiet "$GIT_REF"
    ' "$1"
)
