"""Codes for what only shows when tasks, stack and targets come together."""

from compiler.diagnostics.code import Code, Severity

WORK_NAME_COLLISION = Code(
    "work-name-collision",
    Severity.ERROR,
    "Two tasks of one set have the same name.",
    "Work is known by its set and its name, and its objects by what platforms make of that "
    "(lower case, dashes); two of one name would replace each other.",
    "Give one of them another `name:`.",
    example="two files in the set's inputs, both with `name: train`",
)
NOT_A_STACK = Code(
    "not-a-stack",
    Severity.ERROR,
    "What --stack names is not one stack file.",
    "A stack says which targets there are; it is one document with `set` and `targets`.",
    "Name the file that holds the stack.",
    example="triplane plan --stack tasks/train.yaml",
)
INFRA_NOT_IN_STACK = Code(
    "infra-not-in-stack",
    Severity.ERROR,
    "The task's `infra` names nothing that the stack has.",
    "A task can only go to a target that the stack says how to reach.",
    "Use the key of one of the stack's targets as the second part of `infra`, or add a target.",
    example="resources: {infra: slurm/gamma}  # the stack has alpha and beta",
)
LEFT_OUT = Code(
    "left-out",
    Severity.NOTE,
    "The task cannot go to a target that --every-target or --target looks at.",
    "The flag says what is looked at; the task itself is fine, and goes elsewhere.",
    "Read why, name a target that the task allows, or leave the flag away.",
    example="resources: {infra: slurm/alpha}  # with --target eks",
)
NO_TARGET = Code(
    "no-target",
    Severity.ERROR,
    "No target of the stack can take the task.",
    "Each candidate was refused; the reasons are listed with the message.",
    "Change what the task asks for, or allow another target.",
)
SECRET_MISSING = Code(
    "secret-missing",
    Severity.ERROR,
    "A secret has neither a value nor a place in the stack where the target finds one.",
    "The job would start without it and fail later, or never.",
    "Hand it over with --secret NAME (taken from the environment) or --secret NAME=VALUE, or name "
    "its place under `secrets:` in the stack.",
    example="secrets: {HF_TOKEN: null}",
)
SECRET_NOT_KEPT = Code(
    "secret-not-kept",
    Severity.WARNING,
    "A secret is handed over to a target that only writes files.",
    "A rendered file never holds a value, and nothing is applied that could; the job refers to the "
    "secret by its name.",
    "Put the value on the platform yourself, and leave `--secret` out.",
    example="triplane run train.yaml --stack stack.yaml --secret HF_TOKEN  # `deployer: directory`",
)
VOLUME_NOT_MADE = Code(
    "volume-not-made",
    Severity.WARNING,
    "The task mounts a volume of the set that is not there yet, and that this plan does not make.",
    "What mounts it waits until it is there.",
    "Apply the set, or name the volume's file too.",
    example="triplane apply train.yaml  # before the set was applied, whose volume it mounts",
)
SECRET_VALUES_DIFFER = Code(
    "secret-values-differ",
    Severity.ERROR,
    "Two tasks of one group or pipeline give a secret of one name different values.",
    "A group or a pipeline is one work and keeps one value for each name.",
    "Give one of the two secrets another name.",
)
TARGET_LEFT_BEHIND = Code(
    "target-left-behind",
    Severity.WARNING,
    "The output folder holds files of the set for a target that the stack does not write to.",
    "Nobody updates or removes them any more, and whoever applies the folder still applies them.",
    "Put the target back and run `triplane destroy --target KEY` before taking it out.",
    example="targets: {}  # `alpha` was written to before it was taken out",
)
VOLUME_UNKNOWN = Code(
    "volume-unknown",
    Severity.ERROR,
    "The task mounts a volume of a name that no document of the set has.",
    "Where it is and what it is made of is written in its document alone.",
    "Add the volume to the set; for one that is there already: `use_existing: true`.",
    example="volumes: {/data: no-such-volume}",
)
EMPTY_SET = Code(
    "empty-set",
    Severity.ERROR,
    "The set's inputs hold no task at all, but runs of the set are recorded.",
    "Taken literally this would delete everything; more often a path is wrong.",
    "Check `set.inputs` of the stack, or say --allow-empty if everything is to go.",
)
TREE_UNREADABLE = Code(
    "tree-unreadable",
    Severity.ERROR,
    "A local file or folder that the task brings along cannot be read.",
    "The job would start without it.",
    "Check the path; it is relative to the current folder unless the stack sets `root`.",
)
NO_DOCUMENT = Code(
    "no-document",
    Severity.ERROR,
    "The paths hold no task.",
    "There is nothing to do.",
    "Name at least one YAML file with a task in it.",
)
BAD_PLAN = Code(
    "bad-plan",
    Severity.ERROR,
    "The file is not a saved plan that this version can apply.",
    "A plan is applied byte for byte; one that was edited, cut or made by another version may say "
    "something else than what was reviewed.",
    "Make the plan again with `triplane plan --out FILE`.",
)
OUTPUT_FOLDER = Code(
    "output-folder",
    Severity.ERROR,
    "Where files are to be written is no folder, or one that cannot be written to.",
    "Nothing could be written, so nothing is begun.",
    "Name another folder (`--out`, or `out` of the target or the stack), or mend its permissions.",
    example="out: notes.txt  # a file",
)
PATH_TAKEN = Code(
    "path-taken",
    Severity.ERROR,
    "A file that would be written is there and is somebody else's.",
    "What a set does not own is never overwritten, whatever it holds.",
    "Move the file away, or choose another `out` for the target or the stack.",
)
