# Slurm's side of the launcher. The batch script starts it as a step of one task a node, is
# itself the barrier between setup and run, and left the addresses beside the scripts' folder.
#
# shellcheck disable=SC2034 # the variables are for the launcher

WORK_FOLDER=${FOLDER%/*}
# Slurm signals every process of a step by itself.
SIGNALS_REACH_ALL=1

platform_identify() {
    NODE_RANK=$SLURM_PROCID
    NODE_IPS=$(<"$WORK_FOLDER/nodes") || return 1
    JOB_NUMBER=$SLURM_JOB_ID
    platform_home && platform_links
}

# Every run has a home of its own on the shared file system, as a SkyPilot cluster has: what
# setup installs or appends to ~/.bashrc ends with the run. A container of Pyxis keeps its own
# home, in which the working directory and the files appear as links.
platform_home() {
    [ "$TRIPLANE_CONTAINER" = pyxis ] || export HOME=$WORK_FOLDER/home
}

# What has to appear on each node: links.sh calls `link` for each.
platform_links() {
    [ -e "$FOLDER/links.sh" ] || return 0
    # shellcheck source=/dev/null
    . "$FOLDER/links.sh"
}

link() { # link TARGET PATH
    if [ -d "$2" ] && [ ! -L "$2" ]; then
        rmdir -- "$2" 2>/dev/null
    fi
    if [ -e "$2" ] && [ ! -L "$2" ]; then
        say "$2 is there already: $1 cannot appear there"
        return 1
    fi
    mkdir -p -- "${2%/*}/" && ln -sfn -- "$1" "$2"
}

# The first rank that fails by itself decides the exit code of the job: noclobber lets only one
# of them make the file. Ranks that are taken down with it do not count.
platform_finish() {
    if [ "$1" -ne 0 ] && [ -z "$STOPPED" ]; then
        (
            set -C
            printf '%s %s\n' "$1" "$NODE_RANK" >"$TRIPLANE_FAILED"
        ) 2>/dev/null
    fi
}
