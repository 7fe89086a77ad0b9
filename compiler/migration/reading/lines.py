"""The lines of a script: which ones sbatch takes for directives, and which only look like it."""

from __future__ import annotations

import enum
import re
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.migration.reading.foreign import MANAGERS, OTHER_LINES, Manager
from compiler.targets.slurm.directives import BLANKS, MAGIC, is_separator

OLD_MAGIC = "#SLURM"
_LOOKS_LIKE = re.compile(rf"[{BLANKS}]*(#+)[{BLANKS}]*(?:#[{BLANKS}]*)?(S?BATCH|sbatch|SBTACH)\b")


class Why(enum.StrEnum):
    """Why sbatch does not read a line that looks like a directive."""

    LATE = "late"
    INDENTED = "indented"
    COMMENTED = "commented"
    SPACED = "spaced"
    MISSPELT = "misspelt"
    BEHIND_SEPARATOR = "behind-separator"


@dataclass(frozen=True, slots=True)
class Directive:
    """A line that sbatch reads: `text` is what stands behind the magic word at `offset`."""

    line: int
    text: str
    offset: int
    magic: str
    component: int


@dataclass(frozen=True, slots=True)
class Ignored:
    line: int
    text: str
    why: Why


@dataclass(frozen=True, slots=True)
class Lines:
    """`first_command` is the line that ends the header, None where nothing does."""

    directives: tuple[Directive, ...]
    ignored: tuple[Ignored, ...]
    first_command: int | None
    components: int


def split(text: str) -> Lines:
    """The directives of the header, and every line that somebody may have meant as one."""
    directives: list[Directive] = []
    ignored: list[Ignored] = []
    first_command: int | None = None
    component = 0
    for number, line in enumerate(text.split("\n"), start=1):
        magic = _magic(line)
        if magic is None:
            stripped = line.lstrip(f"{BLANKS}\n")
            if first_command is None and stripped and not stripped.startswith("#"):
                first_command = number
            if (why := _why_not(line)) is not None:
                ignored.append(Ignored(number, line, why))
            continue
        if first_command is not None:
            if magic == MAGIC:
                ignored.append(Ignored(number, line, Why.LATE))
            continue
        behind = line[len(magic) :]
        rest = behind.lstrip(BLANKS)
        if is_separator(rest):
            component += 1
            if not re.fullmatch(rf"\w+[{BLANKS}]*(#.*)?", rest):
                ignored.append(Ignored(number, line, Why.BEHIND_SEPARATOR))
        directives.append(Directive(number, behind, len(magic), magic, component))
    return Lines(tuple(directives), tuple(ignored), first_command, component + 1)


def _magic(line: str) -> str | None:
    for magic in (MAGIC, OLD_MAGIC):
        if line.startswith(magic):
            return magic
    return None


def _why_not(line: str) -> Why | None:
    match = _LOOKS_LIKE.match(line) if "BATCH" in line or "batch" in line or "SBT" in line else None
    if match is None:
        return None
    if match[2] == "SBATCH":
        before = match[0].removesuffix("SBATCH")
        if len(before.strip(BLANKS).replace(" ", "")) > 1:
            return Why.COMMENTED
        return Why.INDENTED if before.endswith("#") else Why.SPACED
    rest = line[match.end() :].lstrip(BLANKS)
    return Why.MISSPELT if rest.startswith("-") else None


def foreign(text: str) -> tuple[Manager, tuple[Directive, ...]] | None:
    """The #BSUB or #PBS lines that sbatch applies; None where there are none."""
    for manager in MANAGERS:
        if manager.magic not in text:
            continue
        found = tuple(_foreign(text, manager))
        if found:
            return manager, found
    return None


def _foreign(text: str, manager: Manager) -> Iterator[Directive]:
    others = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith(manager.magic):
            offset = len(manager.magic)
            yield Directive(number, line[offset:], offset, manager.magic, 0)
        elif not line.startswith("#"):
            others += 1
            if others > OTHER_LINES:
                return
