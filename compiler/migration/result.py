"""What a migration comes to: data only; reports and files are made of it elsewhere."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.migration.shell.inventory import Fact

Path = tuple[str, ...]
DECIDE = "decide: "
"""How a note begins on which somebody has to decide."""


class Outcome(enum.StrEnum):
    """What became of one directive.

    FIELD: a field of the dialect; SBATCH_OPTIONS: handed on as it is; TRANSLATED: said in
    another way, or already what a task does; DROPPED: left out, with the reason; DECISION:
    somebody has to decide.
    """

    FIELD = "field"
    SBATCH_OPTIONS = "sbatch_options"
    TRANSLATED = "translated"
    DROPPED = "dropped"
    DECISION = "decision"


class Status(enum.StrEnum):
    """TRANSLATED: a task with its own `run`; KEPT: the script as it is, on Slurm; REFUSED: sbatch
    refuses it; GENERATOR: it writes job scripts and is none; NO_JOB: it has no directive;
    BY_HAND: understood, and beyond what is written automatically; UNREADABLE: not even read.
    """

    TRANSLATED = "translated"
    KEPT = "kept"
    BY_HAND = "by-hand"
    REFUSED = "refused"
    GENERATOR = "generator"
    NO_JOB = "no-job"
    UNREADABLE = "unreadable"

    @property
    def is_failure(self) -> bool:
        """Whether the script itself is wrong, or cannot be read."""
        return self in (Status.REFUSED, Status.UNREADABLE)


@dataclass(frozen=True, slots=True)
class Entry:
    """One directive. `line` is the script's (0: the command line), `path` leads into the YAML,
    `yaml_line` is where that stands."""

    line: int
    directive: str
    outcome: Outcome
    code: str
    message: str
    path: Path | None = None
    yaml_line: int | None = None


@dataclass(frozen=True, slots=True)
class Note:
    """Something else that is to be said; `hint` is something to do."""

    line: int | None
    code: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """A secret by the name under which it is handed over; its value is nowhere.

    `in_use`: the script needs the value; one that only stands in a comment it does not.
    """

    name: str
    lines: tuple[int, ...]
    taken_out: bool
    in_use: bool = True


@dataclass(frozen=True, slots=True)
class Edit:
    """A place where the text was changed: what stands there now, by the script's line."""

    line: int
    code: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Migration:
    """One script's result. `script` is the text to be written beside the YAML (None: none has
    to be). `parts` are the tasks of a file with several documents: each is complete, and its
    YAML lines are those of the whole file."""

    path: str
    status: Status
    target: str
    name: str = ""
    entries: tuple[Entry, ...] = ()
    reasons: tuple[Note, ...] = ()
    notes: tuple[Note, ...] = ()
    facts: tuple[Fact, ...] = ()
    secrets: tuple[FoundSecret, ...] = ()
    edits: tuple[Edit, ...] = ()
    request: Mapping[str, str] = field(default_factory=dict)
    yaml: str | None = field(default=None, repr=False)
    smoke: str | None = field(default=None, repr=False)
    script: bytes | None = field(default=None, repr=False)
    parts: tuple[Migration, ...] = ()
    check: str | None = None

    @property
    def decisions(self) -> tuple[Entry, ...]:
        """Directives, of the parts as well, on which somebody has to decide."""
        own = tuple(entry for entry in self.entries if entry.outcome is Outcome.DECISION)
        return sum((part.decisions for part in self.parts), own)

    @property
    def undecided(self) -> int:
        """How many decisions there are to make: on directives, and on the text's containers."""
        marked = sum(note.message.startswith(DECIDE) for note in self.notes)
        entries = sum(entry.outcome is Outcome.DECISION for entry in self.entries)
        return marked + entries + sum(part.undecided for part in self.parts)
