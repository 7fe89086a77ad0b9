# What stands before the user's text: ~/.bashrc, the working directory, the variables.
#
#   bash prologue.sh setup|run FOLDER RANK NODE_IPS JOB_NUMBER
#   bash prologue.sh exec FOLDER RANK NODE_IPS JOB_NUMBER COMMAND...
#
# With exec it becomes COMMAND, in what `run` has: for whoever looks into a rank that is there.
#
# Everything of our own starts with _tp_ and is gone before the text is read.
#
# How ~/.bashrc is read. Most of these files return at once unless the shell is interactive,
# and what users want of them (conda, nvm, PATH) stands below that line; so something has to
# run with -i. Running the user's own text under `bash -i` costs too much: such a shell
# ignores SIGTERM, expands `!` and aliases, goes on after ${NAME:?}, and complains about the
# missing terminal. Therefore a short-lived interactive shell reads the file and prints what
# became of its state, and this shell, an ordinary one, takes it over. The answer ends with a
# NUL byte and not with the end of the pipe, which a daemon of ~/.bashrc may hold open. A file
# that ends its shell (exit, exec fish) costs its own effects and no more.

_tp_phase=$1 _tp_folder=$2 _tp_rank=$3 _tp_ips=$4 _tp_job=$5
_tp_command=("${@:6}")
set --

_tp_state=
{
    IFS= read -r -d '' _tp_state < <(
        "$BASH" --rcfile /dev/null -i "$_tp_folder/bashrc.sh" \
            8>&1 9>&2 1>&7 2>/dev/null </dev/null 7>&-
    ) || {
        printf 'launcher: ~/.bashrc ended the shell that read it; going on without it\n' >&2
        _tp_state=
    }
} 7>&1
eval "$_tp_state" 2>/dev/null

# Images that have conda on PATH but never ran `conda init`.
if [ "$(type -t conda)" = file ]; then
    eval "$(conda shell.bash hook 2>/dev/null)"
fi

export PYTHONUNBUFFERED=1
if ! mkdir -p ~/sky_workdir || ! cd ~/sky_workdir; then
    printf 'launcher: cannot make ~/sky_workdir the working directory (HOME=%s)\n' "$HOME" >&2
    exit 1
fi

# shellcheck source=/dev/null
. "$_tp_folder/task.env"
: "${SKYPILOT_USER:=${USER:-$(id -un 2>/dev/null)}}"
export SKYPILOT_USER
if [ "$_tp_phase" = setup ]; then
    unset CUDA_VISIBLE_DEVICES
    export SKYPILOT_SETUP_NODE_RANK=$_tp_rank SKYPILOT_SETUP_NODE_IPS=$_tp_ips
    export SKYPILOT_SETUP_NUM_GPUS_PER_NODE=$SKYPILOT_NUM_GPUS_PER_NODE
    unset SKYPILOT_NUM_GPUS_PER_NODE SKYPILOT_INTERNAL_JOB_ID
else
    export SKYPILOT_NODE_RANK=$_tp_rank SKYPILOT_NODE_IPS=$_tp_ips
    [ -z "$_tp_job" ] || export SKYPILOT_INTERNAL_JOB_ID=$_tp_job
fi

if [ "$_tp_phase" = exec ]; then
    set -- "${_tp_command[@]}"
    eval "unset -v ${!_tp_*}"
    exec "$@"
fi

# A signal that announces the end (Slurm's --signal=USR1@600) is meant for the user's program,
# which gets it too; without a handler the shell that waits for the program would die of it.
trap : USR1 USR2

# The path is expanded here, so that the text starts with no parameters and nothing of ours.
eval "unset -v ${!_tp_*}; set --; . $(printf '%q' "$_tp_folder/$_tp_phase.sh")"
