"""Numbers as C's library reads them: a leading part counts, and the rest is looked at apart."""

from __future__ import annotations

import re

_INTEGER = re.compile(r"[ \t\n\v\f\r]*([+-]?[0-9]+)")
_LONG = 1 << 63
BLANKS = " \t\n\v\f\r"


class Refused(ValueError):
    """sbatch refuses the value (or the whole of the options); the text says why."""


def leading_integer(text: str) -> tuple[int | None, str]:
    """(the integer at the start, what follows it); (None, text) where there is none."""
    match = _INTEGER.match(text)
    if match is None:
        return None, text
    number = max(-_LONG, min(_LONG - 1, int(match[1])))
    return number, text[match.end() :]


def to_int32(number: int) -> int:
    """The number in a C int, which silently loses the higher bits."""
    return (number + (1 << 31)) % (1 << 32) - (1 << 31)


def count(text: str, option: str, *, positive: bool = True) -> int:
    """A whole number above 0 (or from 0 on) and nothing behind it."""
    number, rest = leading_integer(text)
    number = 0 if number is None else number
    if rest or number < 0 or (positive and number == 0):
        raise Refused(f"`{text}` is no number for --{option}")
    if number == _LONG - 1:
        raise Refused(f"{text} is too large for --{option}")
    return to_int32(number)
