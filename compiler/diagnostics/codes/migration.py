"""Codes of `triplane migrate`: what became of a directive, and why."""

from compiler.diagnostics.code import Code, Severity

_NOTE = Severity.NOTE
_WARNING = Severity.WARNING
_ERROR = Severity.ERROR

FIELD = Code(
    "migrate-field",
    _NOTE,
    "A directive became a field of the task.",
    "The field means the same, and every target understands it.",
    "Nothing.",
    example="#SBATCH --nodes=2",
)
OPTION = Code(
    "migrate-option",
    _NOTE,
    "A directive is handed on in `config.slurm.sbatch_options`.",
    "sbatch gets it as it was; other targets have nothing like it.",
    "Nothing on Slurm.",
    example="#SBATCH --constraint=ib",
)
IMPLIED = Code(
    "migrate-implied",
    _NOTE,
    "What a directive asks for is what a task is anyway, or is said by another field.",
    "Writing it again would add nothing.",
    "Nothing.",
    example="#SBATCH --ntasks=1",
)
CLIENT = Code(
    "migrate-client",
    _NOTE,
    "A directive steers the sbatch command and not the job.",
    "It has no meaning for a job that triplane submits.",
    "Nothing.",
    example="#SBATCH --parsable",
)
NO_EFFECT = Code(
    "migrate-no-effect",
    _WARNING,
    "sbatch looks at this option on its command line only; in a script it does nothing.",
    "It was without effect before, and is left out.",
    "Remove the line.",
    example="#SBATCH --wrap=ls",
)
OVERRIDDEN = Code(
    "migrate-overridden",
    _WARNING,
    "A later directive sets the same option, so that this one does nothing.",
    "sbatch takes the last one; whoever reads the script may see the first.",
    "Remove one of the two.",
    example="#SBATCH --time=10\n#SBATCH --time=20",
)
OUTPUT = Code(
    "migrate-output",
    _WARNING,
    "The output goes to the run folder, no longer to the file that the directive names.",
    "`triplane logs` shows it; what reads the file must read it elsewhere.",
    "Use `--keep` to leave the script, and its output files, as they are.",
    example="#SBATCH --output=logs/%j.out",
)
NO_COUNTERPART = Code(
    "migrate-no-counterpart",
    _WARNING,
    "The target has nothing that a directive could become.",
    "What it asked for is lost there, which may or may not matter.",
    "Read the message; it names the nearest thing there is.",
    example="#SBATCH --licenses=matlab  # to Kubernetes",
)
PLUGIN = Code(
    "migrate-plugin",
    _NOTE,
    "A directive belongs to a plug-in of the site.",
    "Only a cluster that has the plug-in takes it.",
    "Nothing on the same cluster.",
    example="#SBATCH --container-image=ubuntu",
)
CHANGED = Code(
    "migrate-changed",
    _WARNING,
    "sbatch itself changes what a directive says.",
    "What the line says and what the job gets are different already.",
    "Correct the line.",
    example="#SBATCH --nodes=4 --ntasks=2",
)
FOREIGN = Code(
    "migrate-foreign",
    _WARNING,
    "A line of another workload manager is in force: sbatch translates it.",
    "It looks like a comment, and it overrides the #SBATCH lines.",
    "Remove it, or give sbatch --ignore-pbs.",
    example="#PBS -l walltime=1:00:00",
)
FOREIGN_TIME = Code(
    "migrate-foreign-time",
    _WARNING,
    "A time of another workload manager means something else to sbatch.",
    "LSF counts hours and minutes, sbatch takes the same text for minutes and seconds.",
    "Write the limit as a #SBATCH line.",
    example="#BSUB -W 2:00",
)
GPU_TYPE = Code(
    "migrate-gpu-type",
    _WARNING,
    "The script asks for GPUs and not for a kind of them.",
    "A task names the accelerator; which one the partition has is not in the script.",
    "Name it (`accelerators: H100:8`), or give a stack whose `gpu_partition_map` says so.",
    example="#SBATCH --gres=gpu:2",
)
GPU_FROM_STACK = Code(
    "migrate-gpu-from-stack",
    _NOTE,
    "The kind of GPU is the one that the stack has for the script's partition.",
    "The script leaves it to the partition; the stack's `gpu_partition_map` names one kind.",
    "Nothing, if the stack is right.",
    example="#SBATCH --gres=gpu:2 --partition=hopper",
)
GPU_NAME = Code(
    "migrate-gpu-name",
    _WARNING,
    "A kind of GPU is spelled as the cluster has it, and unknown elsewhere.",
    "Accelerators have names that all targets share (`triplane catalog`).",
    "Name the accelerator.",
    example="#SBATCH --gres=gpu:tesla:1",
)
NODE_RANGE = Code(
    "migrate-node-range",
    _WARNING,
    "The number of nodes is left to Slurm.",
    "A task has a fixed number of nodes.",
    "Decide on a number.",
    example="#SBATCH --nodes=2-4",
)
IGNORED_LINE = Code(
    "migrate-ignored-line",
    _WARNING,
    "A line looks like a directive, and sbatch does not read it.",
    "The job never got what it asks for; honouring it now would change the job.",
    "Correct the line if it was meant, or remove it.",
    example="# SBATCH --time=10",
)
OLD_MAGIC = Code(
    "migrate-old-magic",
    _WARNING,
    "A line that begins with #SLURM is read as a directive.",
    "sbatch complains about it and obeys it, even where a comment was meant.",
    "Write #SBATCH, or put a blank behind the #.",
    example="#SLURM --time=10",
)
REFUSED = Code(
    "migrate-refused",
    _ERROR,
    "sbatch refuses the script.",
    "There is no job whose behaviour could be kept.",
    "Mend what the message says; the line is given.",
    example="#SBATCH --nodes=NODES",
)
GENERATOR = Code(
    "migrate-generator",
    _NOTE,
    "The file writes job scripts and is none itself.",
    "Its #SBATCH lines stand in text that it puts out.",
    "Migrate what it generates, or let it write tasks.",
    example="cat <<EOF | sbatch",
)
NO_JOB = Code(
    "migrate-no-job",
    _NOTE,
    "The file has no directive that sbatch would read.",
    "It can be submitted all the same, with everything left to the cluster.",
    "Give the command line with it: `triplane migrate -- sbatch -N2 job.sh`.",
    example="#!/bin/bash",
)
UNREADABLE = Code(
    "migrate-unreadable",
    _ERROR,
    "The file cannot be read.",
    "Nothing is known of it.",
    "Make it readable.",
)
NO_SCRIPTS = Code(
    "migrate-no-scripts",
    _ERROR,
    "No file in the folder has a directive of sbatch.",
    "An empty input is more often a wrong path than a wish.",
    "Name the folder that holds the scripts, or a script itself: that is read in any case.",
    example="triplane migrate results/",
)
UNWRITABLE = Code(
    "migrate-unwritable",
    _WARNING,
    "A value of the script cannot stand in a YAML file.",
    "YAML is text; bytes that are no UTF-8 and some control characters are none.",
    "Write the value in UTF-8, or leave it out.",
)
EXISTS = Code(
    "migrate-exists",
    _WARNING,
    "The file of a task is there already, with something that the script does not say.",
    "Somebody may have decided or corrected something in it; that is not thrown away.",
    "`--existing update` brings in what the directives say, `--existing overwrite` all of it.",
)
UPDATED = Code(
    "migrate-updated",
    _NOTE,
    "Values of a task that was there already follow the script's directives again.",
    "Comments, decisions, other keys and `run` are as they were.",
    "Nothing.",
)
HETJOB = Code(
    "migrate-hetjob",
    _WARNING,
    "The job is heterogeneous: several parts with demands of their own.",
    "It becomes a group: the first task runs the script, the others have demands and no `run`.",
    "Nothing on Slurm; for other targets give each task what `srun --het-group` starts for it.",
    example="#SBATCH hetjob",
)
NO_LIMIT = Code(
    "migrate-no-limit",
    _WARNING,
    "The script asks for no time limit.",
    "Such a job waits for ever before a maintenance; triplane never submits one.",
    "Give a limit, or leave it to the partition's.",
    example="#SBATCH --time=UNLIMITED",
)
DEPENDENCY = Code(
    "migrate-dependency",
    _WARNING,
    "The job waits for another one by its number.",
    "A number in a script is that of one submission.",
    "Write a pipeline (`---` between tasks), or hand the number over when it is known.",
    example="#SBATCH --dependency=afterok:123",
)
CHAIN = Code(
    "migrate-chain",
    _NOTE,
    "A script submits others, each of which waits for the one before it.",
    "A pipeline starts a task when the one before it has succeeded, which is `afterok` alone.",
    "Write the tasks as one file with `---` between them where that is the same.",
    example="jid=$(sbatch --parsable a.sh)\nsbatch --dependency=afterok:$jid b.sh",
)
CHECK = Code(
    "migrate-check",
    _NOTE,
    "How the task compares with its script, field by field.",
    "The task was rendered back to sbatch; both were read as sbatch reads them.",
    "Look at what is weaker or different.",
)
MAIL = Code(
    "migrate-mail",
    _NOTE,
    "The target sends no mail about jobs.",
    "On Slurm the option is handed on.",
    "Watch with `triplane wait`, or alert from the platform.",
    example="#SBATCH --mail-type=END",
)
"""What stands in the header; the codes of bodies are in `migration_body`."""
