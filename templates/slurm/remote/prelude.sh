# What every remote snippet starts with. Arguments of the snippet are "$@", data is on stdin.
#
# Exit codes that the caller knows: 69 the controller did not answer, 70 the cluster is not set
# up as the stack says, 73 refused by Slurm, 74 the world moved, 75 another triplane is at work.
#
# SC2034, SC2329: what is defined here is for the snippets that follow; SC2015: `a && b || fail`
# is meant to fail for either; SC2088: the tilde is text here.
# shellcheck shell=bash disable=SC2015,SC2034,SC2088,SC2329
set -u

fail() { # CODE MESSAGE...
    local code=$1
    shift
    printf '%s\n' "$*" >&2
    exit "$code"
}

# Values that users export for their own sbatch calls would override the script's directives.
unset -v "${!SBATCH_@}" "${!SQUEUE_@}" "${!SACCT_@}" "${!SCANCEL_@}" "${!SINFO_@}" SLURM_CLUSTERS
if ! command -v sbatch >/dev/null 2>&1; then
    # Where Slurm is not in the system's folders, only login shells have it on their PATH.
    for profile in /etc/profile ~/.bash_profile ~/.profile; do
        # shellcheck source=/dev/null
        if [ -r "$profile" ]; then . "$profile" </dev/null >/dev/null 2>&1; fi
        ! command -v sbatch >/dev/null 2>&1 || break
    done
    set -u
fi
me=$(id -un)

# need_slurm: the commands are there.
need_slurm() {
    command -v sbatch >/dev/null 2>&1 || fail 69 "sbatch is not on the PATH of $me's login shell"
}

# find_base WORKDIR: sets $base; a leading ~ and variables are expanded and nothing else is.
find_base() {
    local text=$1 done='' name
    case $text in
        '') text=$HOME ;;
        '~' | '~/'*) text=$HOME${text#'~'} ;;
    esac
    while [[ $text =~ ^([^\$]*)\$(\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))(.*)$ ]]; do
        name=${BASH_REMATCH[3]:-${BASH_REMATCH[4]}}
        done+=${BASH_REMATCH[1]}${!name-}
        text=${BASH_REMATCH[5]}
        [ -n "${!name-}" ] || fail 70 "workdir: \$$name is not set on the login node"
    done
    base=$done$text
    case $base in
        /*) ;;
        *) base=$HOME/$base ;;
    esac
}

# enter WORKDIR SET: sets $base and $state, the set's folder.
enter() {
    find_base "$1"
    state=$base/.triplane/$2
}

# mutex: one snippet of a set at a time; the lock goes with the shell.
mutex() {
    mkdir -p -- "$state" || fail 70 "cannot make $state"
    exec 9>>"$state/mutex" || fail 70 "cannot write in $state"
    flock -w 60 -E 75 9
    # Any other failure is a file system without flock: there the set's lock must do.
    [ $? -ne 75 ] || fail 75 "another triplane has been at work in $state for a minute"
}

# at_rest: waits for what is going on, though its sender may be no more: a submission that is
# not seen yet would be made again.
at_rest() {
    [ -r "$state/mutex" ] || return 0
    exec 9<"$state/mutex" && flock -s -w 60 -E 75 9
    [ $? -ne 75 ] || fail 75 "another triplane has been at work in $state for a minute"
    exec 9<&-
}

# put TEXT FILE: whole or not at all.
put() {
    mkdir -p -- "${2%/*}" && printf '%s\n' "$1" >"$2.new" && mv -f -- "$2.new" "$2" ||
        fail 70 "cannot write $2"
}

# unpack FOLDER: the gzipped tar on stdin, into a new folder that nobody else can read.
# (Without gzip tar does not notice that an archive was cut off between two files.)
unpack() {
    rm -rf -- "$1" && mkdir -p -- "${1%/*}" && mkdir -m 700 -- "$1" && tar -xzf - -C "$1" ||
        fail 70 "cannot unpack into $1"
}

# ask COMMAND...: output of a command that asks the controller; ends the snippet if that is away.
ask() {
    local answer
    if answer=$("$@" 2>&1 </dev/null); then
        printf '%s\n' "$answer"
    elif [[ $answer != *'Invalid job id'* ]]; then
        fail 69 "$answer"
    fi
}

# states_of ID: what each member of a job is doing, those that have ended last.
states_of() {
    local rows ended
    ended='^(BOOT_FAIL|CANCELLED|COMPLETED|DEADLINE|FAILED|NODE_FAIL|OUT_OF_MEMORY|PREEMPTED|REVOKED|TIMEOUT|)$'
    rows=$(ask squeue -h -t all -j "$1" -o '%T') || exit
    grep -vE "$ended" <<<"$rows" | sort -u
    grep -E "$ended" <<<"$rows" | sort -u
}
