"""#SBATCH lines: how sbatch reads them, and how we write them.

The reader follows sbatch: a line that begins with `#SBATCH` in its first column, blanks
separate words, quotes group, a backslash takes the next character as it is (but an escaped
blank still ends a word that is not quoted), and a `#` outside quotes ends the line even within
a word. Reading stops at the first line that is neither blank nor a comment.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import NamedTuple

from compiler.rendering.quoting import sbatch

MAGIC = "#SBATCH"
BLANKS = " \t\v\f\r"
_ONE_OPTION = re.compile(rf"[{BLANKS}]*(--[^{BLANKS}\\\\\"'#]*)[{BLANKS}]*")
_SEPARATOR = re.compile(rf"(?:hetjob|packjob)(?=[{BLANKS}]|$)", re.IGNORECASE)


class Unreadable(ValueError):
    """A directive that sbatch refuses to split."""


class Word(NamedTuple):
    """A word as sbatch understands it, and its place in the text: `start` to before `end`."""

    text: str
    start: int
    end: int


def directive(name: str, value: str | None) -> str:
    """The line for `--name=value`, or for a bare flag where `value` is None.

    Raise ValueError for what such a line cannot hold, a line break above all.
    """
    option = f"--{name}" if value is None else f"--{name}={value}"
    line = f"{MAGIC} --{name}" if value is None else f"{MAGIC} --{name}={sbatch(value)}"
    if words(line.removeprefix(MAGIC)) != [option]:
        raise ValueError(f"`{option}` cannot be written as a directive")
    return line


def words(text: str) -> list[str]:
    """The words of a directive, without the magic word, as sbatch splits it."""
    if option := _ONE_OPTION.fullmatch(text):
        return [option[1]]
    return [word.text for word in scan(text)]


def scan(text: str) -> list[Word]:
    """The words of a directive with their places.

    A word that is nothing but empty quotes, and the separator of heterogeneous jobs wherever
    it stands, end the line: sbatch reads nothing behind them, and says nothing.
    """
    found: list[Word] = []
    at = 0
    while True:
        while at < len(text) and text[at] in BLANKS:
            at += 1
        if at == len(text) or is_separator(text, at):
            return found
        if text[at] == ":":
            raise Unreadable("a `:` where an option is meant")
        word, end = _word(text, at)
        if word is None:
            return found
        found.append(Word(word, at, end))
        at = end


def is_separator(text: str, at: int = 0) -> bool:
    """Whether `hetjob` (or `packjob`, its old name) stands at `at`, a word by itself."""
    return _SEPARATOR.match(text, at) is not None


def _word(text: str, at: int) -> tuple[str | None, int]:
    """The word that begins at `at` (None: nothing that sbatch takes for one), and its end."""
    word: list[str] | None = None
    quote = ""
    escaped = False
    while at < len(text) and (quote or text[at] not in BLANKS):
        character = text[at]
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = True
            at += 1
            continue
        elif quote:
            if character == quote:
                quote = ""
                at += 1
                continue
        elif character in "\"'":
            quote = character
            at += 1
            continue
        elif character == "#":
            break
        word = word or []
        word.append(character)
        at += 1
    if quote:
        raise Unreadable(f"a {quote} is not closed")
    return (None if word is None else "".join(word)), at


def header(script: str) -> Iterator[tuple[int, list[str]]]:
    """(1-based line number, words) of every directive that sbatch would see."""
    for number, ended in enumerate(io.StringIO(script, newline="\n"), start=1):
        line = ended.removesuffix("\n")
        if line.startswith(MAGIC):
            yield number, words(line.removeprefix(MAGIC))
        elif line.strip(BLANKS) and not line.lstrip(BLANKS).startswith("#"):
            return
