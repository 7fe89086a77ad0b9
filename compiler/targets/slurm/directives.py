"""#SBATCH lines: how sbatch reads them, and how we write them.

The reader follows sbatch: a line that begins with `#SBATCH` in its first column, blanks
separate words, quotes group, a backslash takes the next character as it is, and a `#` outside
quotes ends the line even within a word. Reading stops at the first line that is neither
blank nor a comment.
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.rendering.quoting import sbatch

_MAGIC = "#SBATCH"
_BLANKS = " \t\v\f\r"


class Unreadable(ValueError):
    """A directive that sbatch refuses to split."""


def directive(name: str, value: str | None) -> str:
    """The line for `--name=value`, or for a bare flag where `value` is None.

    Raise ValueError for what such a line cannot hold, a line break above all.
    """
    option = f"--{name}" if value is None else f"--{name}={value}"
    line = f"{_MAGIC} --{name}" if value is None else f"{_MAGIC} --{name}={sbatch(value)}"
    if words(line.removeprefix(_MAGIC)) != [option]:
        raise ValueError(f"`{option}` cannot be written as a directive")
    return line


def words(text: str) -> list[str]:
    """The words of a directive, without the magic word, as sbatch splits it."""
    found: list[str] = []
    word: list[str] | None = None
    quote = ""
    characters = iter(text)
    for character in characters:
        if character == "\\":
            word = word or []
            word.append(next(characters, ""))
        elif quote:
            if character == quote:
                quote = ""
            else:
                word = [*(word or []), character]
        elif character in "\"'":
            quote, word = character, word or []
        elif character == "#":
            break
        elif character in _BLANKS:
            if word is not None:
                found.append("".join(word))
            word = None
        else:
            word = word or []
            word.append(character)
    if quote:
        raise Unreadable(f"a {quote} is not closed")
    if word is not None:
        found.append("".join(word))
    return found


def header(script: str) -> Iterator[tuple[int, list[str]]]:
    """(1-based line number, words) of every directive that sbatch would see."""
    for number, line in enumerate(script.split("\n"), start=1):
        if line.startswith(_MAGIC):
            yield number, words(line.removeprefix(_MAGIC))
        elif line.strip(_BLANKS) and not line.lstrip(_BLANKS).startswith("#"):
            return
