"""What moving a script away from Slurm has come to so far."""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.diagnostics import Code
from compiler.diagnostics.codes import migration_body as codes
from compiler.migration.containers import Container
from compiler.migration.editing import Change
from compiler.migration.result import Note
from compiler.migration.shell.body import Command
from compiler.migration.shell.launchers import Step

EDITED = codes.EDITED.name


@dataclass
class Moved:
    """`lines` in front of the script, `changes` in it, and what is to be said. `main` are the
    steps that run on every node, `steps` those that are several processes on a node."""

    lines: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)
    main: list[Step] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    containers: list[Container] = field(default_factory=list)

    @property
    def container(self) -> Container | None:
        """The one in which the task runs; there is never another image than this one's."""
        return self.containers[0] if self.containers else None


def note(code: Code, line: int | None, text: str, hint: str | None = None) -> Note:
    return Note(line, code.name, text, code.fix if hint is None else hint)


def replaced(command: Command, text: str) -> Change:
    """The command becomes `text`; its redirections stay."""
    end = command.words[-1].end if command.words else command.end
    return Change(command.words[0].start, end, text, command.line, EDITED)
