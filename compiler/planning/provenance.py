"""Where a rendered line comes from, found by asking: what would it be if this input were another?

An input that makes a line another line is a source of that line. The answer needs no knowledge
of any platform and cannot go stale: it is taken from the very code that renders.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compiler.source.paths import Path

_COUNTED = re.compile(r"(.*?)(\d+)(\D*)", re.DOTALL)
_NEEDLE = "triplane-line-"


@dataclass(frozen=True, slots=True)
class Source:
    """One input that a line depends on.

    `field` is its dotted path in the document, `location` its `file:line:column`; `document`
    says what it is of: `task`, `group`, `volume` or `stack`.
    """

    field: str
    location: str
    document: str


@dataclass(frozen=True, slots=True)
class Line:
    """What made one line: inputs, and the rules that turned them into it (`template ...`)."""

    sources: tuple[Source, ...] = ()
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Leaf:
    """A plain value of a document, or one line of a text in it (`line` counts from 0)."""

    path: Path
    value: object
    lines: tuple[str, ...] = ()
    alternatives: tuple[object, ...] = field(default=())


def leaves(data: object, path: Path = ()) -> Iterator[Leaf]:
    """Every plain value below `data`, with others that could stand in its place."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from leaves(value, (*path, str(key)))
    elif isinstance(data, list):
        for at, value in enumerate(data):
            yield from leaves(value, (*path, at))
    elif data is not None:
        yield Leaf(path, data, _lines(data), tuple(_alternatives(data)))


def marked(leaf: Leaf) -> str:
    """The text with a word of its own at the end of each line, by which its line is found."""
    return "\n".join(f"{line} # {_NEEDLE}{at}-" for at, line in enumerate(leaf.lines)) + "\n"


def marked_line(text: str) -> int | None:
    """Which line of a marked text (from 0) a rendered line shows, None for none."""
    found = re.search(rf"{_NEEDLE}(\d+)-", text)
    return int(found[1]) if found else None


def changed_lines(before: str, after: str) -> Iterator[tuple[int, str]]:
    """(number from 1, line that stands there instead) of each line of `before` that is another.

    The line instead is empty where nothing stands there.
    """
    old, new = before.splitlines(), after.splitlines()
    start = 0
    while start < min(len(old), len(new)) and old[start] == new[start]:
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and old[-1 - end] == new[-1 - end]:
        end += 1
    left, right = old[start : len(old) - end], new[start : len(new) - end]
    matcher = difflib.SequenceMatcher(None, left, right, autojunk=False)
    for tag, first, last, other, stop in matcher.get_opcodes():
        if tag in ("replace", "delete"):
            for at in range(first, last):
                instead = other + at - first
                yield start + at + 1, right[instead] if instead < stop else ""


def place_of(path: str, labels: Sequence[str]) -> str:
    for label in sorted(filter(None, labels), key=len, reverse=True):
        path = path.replace(label, "*").replace(label.replace("-", "_"), "*")
    return path


def _lines(value: object) -> tuple[str, ...]:
    return tuple(value.splitlines()) if isinstance(value, str) and "\n" in value else ()


def _alternatives(value: object) -> Iterator[object]:
    """Other values of the same kind, those most likely to be valid first."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int | float):
        yield value + 1
        yield value * 2
        yield max(value - 1, 0)
    elif isinstance(value, str):
        yield f"{value}x"
        counted = _COUNTED.fullmatch(value)
        if counted is not None:
            yield f"{counted[1]}{int(counted[2]) + 1}{counted[3]}"
        # A device and its count, each by itself.
        head, colon, count = value.rpartition(":")
        if colon and count.isdecimal():
            yield f"{head}:{int(count) * 2}"
            yield f"{head}:{max(int(count) // 2, 1)}"
        yield "x"
