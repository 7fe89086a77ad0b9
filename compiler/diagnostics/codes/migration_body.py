"""Codes of `triplane migrate` about a script's body: why it is kept as it is, and what it needs."""

from compiler.diagnostics.code import Code, Severity

_NOTE = Severity.NOTE
_WARNING = Severity.WARNING

SHELL = Code(
    "migrate-shell",
    _NOTE,
    "The script is for another interpreter than bash, or for a login shell.",
    "A task's `run` is read by bash; the same text may mean something else there.",
    "Keep it on Slurm, or rewrite it for bash.",
    example="#!/bin/tcsh",
)
SYNTAX = Code(
    "migrate-syntax",
    _WARNING,
    "A part of the script is no bash that could be understood.",
    "Nothing can be said about what it does, so nothing in it is touched.",
    "Look at the line; `bash -n` says more.",
    example="if [ -f x ]; then",
)
TASKS = Code(
    "migrate-tasks",
    _NOTE,
    "The job has several tasks or nodes, which the script itself puts to use.",
    "A task runs its `run` once on every node; the script runs once and starts the rest.",
    "For other targets: one process a node with `run`, several with torchrun or mpirun.",
    example="#SBATCH --ntasks=16",
)
STEP = Code(
    "migrate-step",
    _NOTE,
    "The script starts steps with srun.",
    "Which processes run where is srun's work; outside of Slurm there is none.",
    "For other targets: drop it where it starts one process a node, else use a launcher.",
    example="srun ./solver",
)
MPI = Code(
    "migrate-mpi",
    _NOTE,
    "The script starts an MPI program over the allocation.",
    "mpirun and srun bring its processes together over the nodes that Slurm gave.",
    "For other targets: an MPI operator, or mpirun on one node.",
    example="mpirun ./solver",
)
REMOTE = Code(
    "migrate-remote",
    _NOTE,
    "The script reaches other nodes by their names.",
    "Nodes have other names elsewhere, and no ssh between them.",
    "For other targets: let every rank do its part, by $SKYPILOT_NODE_RANK.",
    example="ssh $node hostname",
)
VARIABLE = Code(
    "migrate-variable",
    _NOTE,
    "The script reads a variable that only Slurm sets, or sets to something else in a step.",
    "Under `run` it would be empty or different.",
    "For other targets: `--shim` exports Slurm's variables from SKYPILOT_*.",
    example="echo $SLURM_PROCID",
)
SLURM_COMMAND = Code(
    "migrate-slurm-command",
    _NOTE,
    "The script calls Slurm: to submit, to ask, or to change its own job.",
    "There is no such command elsewhere, and jobs it submits are none of triplane's.",
    "For other targets: pipelines for chains, SKYPILOT_NODE_IPS for host lists.",
    example="scontrol show hostnames $SLURM_JOB_NODELIST",
)
SELF = Code(
    "migrate-self",
    _NOTE,
    "The script asks for its own path.",
    "Under `run` it is another one.",
    "Use an absolute path.",
    example='cd "$(dirname "$0")"',
)
ARGUMENTS = Code(
    "migrate-arguments",
    _WARNING,
    "The script reads arguments, which stand behind its name when it is submitted.",
    "They are in no file; without them it does something else, or fails.",
    "Give them: `triplane migrate -- sbatch job.sh a b`.",
    example="python train.py $1",
)
SUBMIT_VARIABLE = Code(
    "migrate-submit-variable",
    _WARNING,
    "The script insists on a variable that nothing in it sets.",
    "Whoever submits it has to hand it over, and nobody does for a task.",
    "Put it into `envs`.",
    example=": ${CONFIG:?not set}",
)
ARRAY = Code(
    "migrate-array",
    _NOTE,
    "The job is an array.",
    "A task is one job; an array's indices can be lists with steps and a limit.",
    "For other targets: `triplane run --num-jobs`, a run for each member.",
    example="#SBATCH --array=1-100%5",
)
LIFE = Code(
    "migrate-life",
    _NOTE,
    "The job manages its own life in the queue: signals, requeueing, the next link of a chain.",
    "All of it is Slurm's; a task is recovered by `job_recovery` or not at all.",
    "For other targets: checkpoints and `job_recovery`.",
    example="#SBATCH --signal=B:USR1@300",
)
CONTAINER = Code(
    "migrate-container",
    _NOTE,
    "The script starts a container.",
    "On Slurm it goes on doing so; inside of a container there is no other one.",
    "For other targets: `resources.image_id`, and the inner command as `run`.",
    example="singularity exec image.sif python train.py",
)
IMAGE = Code(
    "migrate-image",
    _WARNING,
    "The image of the script's container is a file of the cluster.",
    "A task's image comes from a registry; which one the file was made from is not in the script.",
    "Name it in `image_id` (`docker:...`), or push the file's contents to a registry.",
    example="apptainer exec image.sif python train.py  # to Kubernetes",
)
MOUNTS = Code(
    "migrate-mounts",
    _WARNING,
    "A folder of the cluster was mounted into the script's container.",
    "The container has its own file system, and what the task's `volumes` put there.",
    "Mount a volume at the same path (`volumes`), or bring the files along (`file_mounts`).",
    example="srun --container-mounts=/data:/data ...  # to Kubernetes",
)
ENVIRONMENT = Code(
    "migrate-environment",
    _NOTE,
    "The job's environment is not the one of the login that submits it.",
    "sbatch hands the variables of the submitting shell on unless a script says otherwise.",
    "Set what the script needs in `envs`.",
    example="#SBATCH --export=NONE",
)
GPU_KIND = Code(
    "migrate-gpu-kind",
    _NOTE,
    "The GPUs are asked for in a way that a task's `accelerators` would not repeat.",
    "As a field they would be asked for by type, where the script leaves that open.",
    "Name the accelerator if you know it.",
    example="#SBATCH --gres=gpu:2",
)
OPTION_ALONE = Code(
    "migrate-option-alone",
    _NOTE,
    "An option has no place in a task that is run by the launcher.",
    "The launcher decides on it itself.",
    "Nothing on Slurm, where the script is kept.",
    example="#SBATCH --mem-per-gpu=8G",
)
MODULES = Code(
    "migrate-modules",
    _WARNING,
    "The script loads modules, which the target does not have.",
    "Software and its versions come from the image there.",
    "Choose an image that has them (`image_id`), or install them in `setup`.",
    example="module load cuda/12.1",
)
PATHS = Code(
    "migrate-paths",
    _WARNING,
    "The script uses paths of the cluster's file systems.",
    "They are not there on the target.",
    "Mount volumes at the same paths, or bring the data along (`file_mounts`).",
    example="cd /scratch/project",
)
SUBMIT_FOLDER = Code(
    "migrate-submit-folder",
    _WARNING,
    "The job runs in the folder from which sbatch is called, and that is in no script.",
    "Relative paths of the script and of its output start there.",
    "Give it: `--submit-dir DIR`, or `--submit-dir @script` for the script's own folder.",
    example="python train.py",
)
SECRET = Code(
    "migrate-secret",
    _WARNING,
    "A key or token stands in the script.",
    "Whoever reads the file has it. It is handed over as a secret instead, and written nowhere.",
    "Hand it over when applying (`--secret NAME`), or name its source in the stack; revoke the "
    "old one.",
    example="export HF_TOKEN=hf_...",
)
SECRET_LEFT = Code(
    "migrate-secret-left",
    Severity.ERROR,
    "A secret stands where it cannot be taken out.",
    "The text around it is not expanded by the shell (a quoted here-document, a private key).",
    "Take it out by hand; nothing of the script was written.",
    example="cat <<'EOF'  # with a token in the text",
)
EDITED = Code(
    "migrate-edited",
    _NOTE,
    "A place of the text was changed.",
    "Everything else is as it was, byte for byte.",
    "Compare the two.",
)
SHIM = Code(
    "migrate-shim",
    _NOTE,
    "Slurm's variables are exported by a few lines in front of the script.",
    "Code outside of the script (a python program) may read them too.",
    "Remove them when nothing reads them any more.",
)
CONSTRUCT = Code(
    "migrate-construct",
    _WARNING,
    "Something in the script has another meaning or value elsewhere.",
    "The message says what changes, and where.",
    "See whether the script minds.",
    example="PORT=$((10000 + SLURM_JOB_ID % 1000))",
)
