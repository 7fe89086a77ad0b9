"""Codes that say what a target makes of a field; the texts come from its support table."""

from compiler.diagnostics.code import Code, Severity

FIELD_IGNORED = Code(
    "field-ignored",
    Severity.WARNING,
    "The target cannot express this field; what is rendered does without it.",
    "A field that is dropped without a word is found out when the job is wrong.",
    "Remove the field, or place the task on a target that can express it (docs/support-matrix.md).",
    example="resources: {disk_tier: high}  # on Slurm",
)
FIELD_CHANGED = Code(
    "field-changed",
    Severity.WARNING,
    "The target expresses this field with another meaning.",
    "The rendered artifact does something close to what was asked, not quite the same.",
    "Read the message; write the field as the target understands it, or accept the difference.",
    example="resources: {cpus: 4+}  # on Kubernetes: exactly 4 are requested",
)
FIELD_REFUSED = Code(
    "field-refused",
    Severity.ERROR,
    "The target cannot run a task that asks for this.",
    "Leaving the field out would change what the task is.",
    "Remove the field for this target, or place the task elsewhere.",
    example="resources: {infra: slurm/alpha, ports: 8080}",
)
