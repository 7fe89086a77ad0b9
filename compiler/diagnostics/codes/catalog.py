"""Codes about hardware by name: accelerators and instance types."""

from compiler.diagnostics.code import Code, Severity

ACCELERATOR_UNKNOWN = Code(
    "accelerator-unknown",
    Severity.ERROR,
    "No accelerator of this name is known where the task would go.",
    "A misspelt accelerator would otherwise wait for ever for a node that does not exist.",
    "Use one of the names suggested.",
    example="resources: {infra: aws, accelerators: H1000:8}",
)
ACCELERATOR_AMBIGUOUS = Code(
    "accelerator-ambiguous",
    Severity.ERROR,
    "The name is part of several accelerators' names.",
    "Their memory and price differ; a guess would be expensive.",
    "Write the full name of one of them.",
    example="resources: {accelerators: RTX:1}",
)
ACCELERATOR_COUNT = Code(
    "accelerator-count",
    Severity.ERROR,
    "No instance type has this many of the accelerator.",
    "Instance types come with fixed numbers of accelerators; more of them need more nodes.",
    "Use one of the counts that exist, and `num_nodes` for more.",
    example="resources: {infra: aws, accelerators: A100:4}  # p4d has 8",
)
INSTANCE_TYPE_UNKNOWN = Code(
    "instance-type-unknown",
    Severity.ERROR,
    "The catalogue has no instance type of this name.",
    "The cloud would refuse it when the instance is created.",
    "Use one of the names suggested, or ask for accelerators, cpus and memory instead.",
    example="resources: {infra: aws, instance_type: p5.49xlarge}",
)
INSTANCE_TYPE_CONTRADICTION = Code(
    "instance-type-contradiction",
    Severity.ERROR,
    "The instance type does not have what another field asks for.",
    "Either of the two could be the one that was meant.",
    "Remove one of the two fields.",
    example="resources: {infra: aws, instance_type: p5.48xlarge, accelerators: A100:8}",
)
INSTANCE_TYPE_NONE_FITS = Code(
    "instance-type-none-fits",
    Severity.ERROR,
    "No instance type of the catalogue has all that is asked for.",
    "cpus and memory without `+` are exact numbers, and few combinations exist.",
    "Ask for `4+` instead of `4`, or name an `instance_type`.",
    example="resources: {infra: aws, cpus: 7}",
)
COST_ABOVE_LIMIT = Code(
    "cost-above-limit",
    Severity.ERROR,
    "Everything that fits costs more than `max_hourly_cost`.",
    "The limit was set so that nothing dearer is started.",
    "Raise `max_hourly_cost`, or ask for less.",
    example="resources: {infra: aws, accelerators: H100:8, max_hourly_cost: 10}",
)
MEMBER_ELSEWHERE = Code(
    "member-elsewhere",
    Severity.ERROR,
    "Tasks of one group or pipeline are allowed on different targets only.",
    "They start together, reach each other by name or wait for each other, which no two targets "
    "can do between them.",
    "Give all tasks an `infra` with a target in common, or split the file.",
    example="two tasks of a group, one with `infra: slurm/alpha`, one with `infra: kubernetes/eks`",
)
