"""Moving a script to a target that is not Slurm, where that can be done without loss."""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.migration.editing import Change
from compiler.migration.result import Note
from compiler.migration.script import Script


@dataclass(frozen=True)
class Moved:
    """`lines` in front of the script, `changes` in it, and what is to be said."""

    lines: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def translate(script: Script, reasons: tuple[Note, ...]) -> Moved | None:
    """None where the script can only be kept."""
    return None if reasons else Moved()
