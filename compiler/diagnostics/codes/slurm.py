"""Codes of the Slurm target: options of sbatch, and what a script cannot hold."""

from compiler.diagnostics.code import Code, Severity

SBATCH_OPTION_CONTROLLED = Code(
    "sbatch-option-controlled",
    Severity.ERROR,
    "`sbatch_options` sets an option that follows from the task itself.",
    "Two values for one option would contradict each other, and sbatch takes the later one.",
    "Remove the option and use the field that the hint names.",
    example="config: {slurm: {sbatch_options: {nodes: 4}}}",
)
SBATCH_OPTION_UNKNOWN = Code(
    "sbatch-option-unknown",
    Severity.ERROR,
    "`sbatch_options` names an option that this version of sbatch does not have.",
    "sbatch would refuse the whole script when it is submitted.",
    "Correct the name; only long names without abbreviation, or one-letter names, are read.",
    example="config: {slurm: {sbatch_options: {constrain: ib}}}",
)
SBATCH_OPTION_CLIENT = Code(
    "sbatch-option-client",
    Severity.ERROR,
    "`sbatch_options` names an option that steers the sbatch command, not the job.",
    "The script is submitted by triplane, or by hand, and reads the same everywhere.",
    "Remove it; give it to sbatch by hand where that is wanted.",
    example="config: {slurm: {sbatch_options: {test_only: true}}}",
)
SBATCH_OPTION_VALUE = Code(
    "sbatch-option-value",
    Severity.ERROR,
    "A value in `sbatch_options` is none that the option can have.",
    "sbatch would refuse the script, or read something else.",
    "Write `true` for a flag, and a text or number for an option with a value.",
    example="config: {slurm: {sbatch_options: {reservation: true}}}",
)
SBATCH_OPTION_REPEATED = Code(
    "sbatch-option-repeated",
    Severity.ERROR,
    "One map of `sbatch_options` names the same option twice, in two spellings.",
    "Which of the two holds would depend on their order.",
    "Keep one of them.",
    example='config: {slurm: {sbatch_options: {t: "60", time: "90"}}}',
)
SBATCH_OPTION_OVERRIDDEN = Code(
    "sbatch-option-overridden",
    Severity.WARNING,
    "An account or QoS in `sbatch_options` gives way to the one of `quota` or of the workspace.",
    "The job is charged to somebody else than this line says.",
    "Remove it from `sbatch_options`.",
    example="config: {slurm: {sbatch_options: {qos: low}, quota: {queue: high}}}",
)
SBATCH_TIME = Code(
    "sbatch-time",
    Severity.ERROR,
    "A time limit is not one that Slurm should get.",
    "An unlimited job waits for ever before a maintenance; an unquoted 24:00:00 is 86400 minutes.",
    'Quote the time and write it as sbatch does, for example "1-12:00:00".',
    example="config: {slurm: {sbatch_options: {time: 24:00:00}}}",
)
SLURM_TIME_TOO_LONG = Code(
    "slurm-time-too-long",
    Severity.ERROR,
    "A job asks for more time than the stack says its partition allows.",
    "Slurm refuses such a job, or keeps it waiting for ever (PartitionTimeLimit).",
    "Ask for less, name another partition, or correct `max_time` in the stack.",
    example='config: {slurm: {sbatch_options: {time: "30-00:00:00"}}}',
)
SLURM_NO_TIME_LIMIT = Code(
    "slurm-no-time-limit",
    Severity.WARNING,
    "Neither the task nor the partition sets a time limit.",
    "An unlimited job is never backfilled and keeps its nodes until somebody cancels it.",
    "Set `time` in `sbatch_options`, for all tasks of a partition in `partition_configs`.",
    example="config: {slurm: {sbatch_options: {}}}  # on a partition with max_time: UNLIMITED",
)
SLURM_REQUEST_TOO_LARGE = Code(
    "slurm-request-too-large",
    Severity.ERROR,
    "A task asks for more nodes, CPUs or memory a node than any Slurm cluster can have.",
    "sbatch does not notice a number that is too large for it, and would ask for another one.",
    "Ask for less.",
    example="num_nodes: 100000",
)
SLURM_GPU_TYPE_OPEN = Code(
    "slurm-gpu-type-open",
    Severity.WARNING,
    "The cluster is asked for a number of GPUs without their type, as the stack says.",
    "Nodes with other GPUs may get the job, unless its partition has only nodes of that type.",
    "Say in `partitions` or `gpu_partition_map` where such GPUs are, or set `gres: typed`.",
    example="targets: {alpha: {kind: slurm, gres: untyped}}  # and accelerators: H100:8",
)
SLURM_MEMBER_NAME = Code(
    "slurm-member-name",
    Severity.ERROR,
    "A task of a group or a pipeline is called like a file of the run.",
    "Each task has a folder of its own in the run's, beside the files that say how the run is.",
    "Give the task another name.",
    example="name: logs  # as a task of a group",
)
SLURM_VALUE = Code(
    "slurm-value",
    Severity.ERROR,
    "A value cannot be written into an sbatch script.",
    "A NUL byte or, in a directive, a line break has no form there.",
    "Change the value.",
    example='config: {slurm: {sbatch_options: {comment: "two\\nlines"}}}',
)
SLURM_SCRIPT = Code(
    "slurm-script",
    Severity.ERROR,
    "A rendered sbatch script is not what it should be.",
    "Slurm would refuse it or read other options than were meant; this is a fault of triplane.",
    "Report it, with the task that shows it.",
)
