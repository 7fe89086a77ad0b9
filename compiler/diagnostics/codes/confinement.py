"""Codes for what a plan of input that nobody has reviewed must not reach."""

from compiler.diagnostics.code import Code, Severity

OUTSIDE_BASE = Code(
    "outside-base",
    Severity.ERROR,
    "With `--read-only` an input, or a file that a task brings along, lies outside of the base.",
    "Whoever proposes a change could have the machine that plans it read its own files, such as "
    "credentials, and show them in the plan.",
    "Keep what tasks need below the stack's `root` (without one: the current folder), and let no "
    "link lead out of it.",
    example="file_mounts: {~/key: ~/.ssh/id_ed25519}  # triplane plan --read-only",
)
