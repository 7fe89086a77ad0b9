"""What is found in a script's body: commands in their contexts, assignments, variables."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from compiler.migration.shell.words import Word

if TYPE_CHECKING:
    from tree_sitter import Node


class Context(enum.StrEnum):
    """In what a command stands."""

    PIPE = "pipe"
    BACKGROUND = "background"
    SUBSTITUTION = "substitution"
    SUBSHELL = "subshell"
    LOOP = "loop"
    CONDITION = "condition"
    LIST = "list"
    FUNCTION = "function"
    REDIRECTED = "redirected"
    NEGATED = "negated"


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command. `words` begin with its name, behind any prefix such as `time`.

    `start` and `end` are byte offsets of the whole command, prefixes and all; `line` from 1.
    """

    words: tuple[Word, ...]
    prefixes: tuple[Word, ...]
    contexts: frozenset[Context]
    line: int
    start: int
    end: int
    assignments: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The last part of the command's path; empty where it is known only at run time."""
        literal = self.words[0].literal if self.words else None
        return literal.rpartition("/")[2] if literal else ""

    @property
    def arguments(self) -> tuple[Word, ...]:
        return self.words[1:]


@dataclass(frozen=True, slots=True)
class Assignment:
    """`NAME=value`; `value` is None for a name that is only exported or emptied."""

    name: str
    value: Word | None
    exported: bool
    line: int
    contexts: frozenset[Context]

    def holds(self) -> str:
        """The name of the command with which the value begins, as far as it can be told."""
        text = "" if self.value is None else self.value.literal or self.value.text
        words = text.strip("(\"' \t\n").split()
        return words[0].rpartition("/")[2].strip("\"'") if words else ""


@dataclass(frozen=True, slots=True)
class Use:
    """A variable that is read. `quoted`: in a text that this shell hands on unexpanded.

    `in_function`: where `$1` is the function's.
    """

    name: str
    line: int
    start: int
    quoted: bool = False
    in_function: bool = False


@dataclass(frozen=True, slots=True)
class HereDoc:
    """The text of a here-document; `expands` where its delimiter is not quoted."""

    first_line: int
    last_line: int
    start: int
    end: int
    expands: bool


@dataclass(frozen=True, slots=True)
class Body:
    """Everything that was found, each kind in the order of the text.

    `faults` are lines that are no bash; `strings` the quoted texts (raw: in single quotes).
    """

    commands: tuple[Command, ...] = ()
    assignments: tuple[Assignment, ...] = ()
    uses: tuple[Use, ...] = ()
    heredocs: tuple[HereDoc, ...] = ()
    functions: tuple[str, ...] = ()
    comments: tuple[tuple[int, int, int], ...] = ()
    faults: tuple[int, ...] = ()
    root: Node | None = field(default=None, compare=False, repr=False)

    def called(self, *names: str) -> Iterator[Command]:
        """The commands with one of these names."""
        return (command for command in self.commands if command.name in names)

    def reads(self, *names: str) -> Iterator[Use]:
        return (use for use in self.uses if use.name in names)

    def in_heredoc(self, line: int) -> bool:
        return any(doc.first_line <= line <= doc.last_line for doc in self.heredocs)
