"""The words that all reports share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.diagnostics.codes.migration import HETJOB
from compiler.migration.result import Migration, Outcome, Status

STATUS = {
    Status.TRANSLATED: "becomes a task with its own `run`",
    Status.KEPT: "is kept as it is: `native_script` on Slurm",
    Status.BY_HAND: "has to be written by hand",
    Status.REFUSED: "is refused by sbatch",
    Status.GENERATOR: "writes job scripts and is none itself",
    Status.NO_JOB: "has no directive",
    Status.UNREADABLE: "cannot be read",
}


def becomes(migration: Migration) -> str:
    """What became of a script, as the rest of a sentence that begins with its name."""
    if migration.parts:
        is_group = any(note.code == HETJOB.name for note in migration.notes)
        kind = "group" if is_group else "pipeline"
        return f"becomes a {kind} of {len(migration.parts)} tasks"
    text = STATUS[migration.status]
    if migration.target != "slurm" and migration.status is Status.KEPT:
        return f"cannot move to {migration.target}, and {text}"
    return text


OUTCOME = {
    Outcome.FIELD: "field",
    Outcome.SBATCH_OPTIONS: "sbatch_options",
    Outcome.TRANSLATED: "translated",
    Outcome.DROPPED: "dropped",
    Outcome.DECISION: "DECIDE",
}
FACTS = {
    "module": "modules",
    "cuda": "CUDA",
    "environment": "environments",
    "install": "installs",
    "path": "paths",
    "port": "ports",
    "launcher": "launchers",
    "image": "container images",
    "slurm-command": "Slurm commands",
    "slurm-variable": "Slurm variables",
    "arguments": "arguments",
    "sourced": "sourced files",
}


def visible(text: str) -> str:
    """Text without control characters and halves of surrogate pairs, on one line."""
    return "".join(
        character if character.isprintable() else " " if character.isspace() else "\ufffd"
        for character in text
    )


def facts(migration: Migration) -> Iterator[tuple[str, str, list[int]]]:
    """(kind, text, lines) of what a new place must offer; equal texts together."""
    found: dict[tuple[str, str], list[int]] = {}
    for fact in migration.facts:
        detail = f" ({fact.detail})" if fact.detail else ""
        lines = found.setdefault((fact.kind, f"{fact.text}{detail}"), [])
        if fact.line not in lines:
            lines.append(fact.line)
    for (kind, text), lines in found.items():
        yield FACTS[kind], visible(text), lines


def place(line: int | None) -> str:
    """A line of the script, for a column."""
    if line is None:
        return ""
    return str(line) if line else "command"


def yaml_place(path: Iterable[str] | None) -> str:
    return ".".join(path) if path else ""
