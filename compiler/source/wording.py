"""How values and types are called in messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_LONGEST = 60
_MOST = 12

TYPE_NAMES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "a boolean",
    "object": "a map",
    "array": "a list",
    "null": "nothing",
}


def clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def quoted(text: str) -> str:
    """A name or short value as messages show it."""
    return f"`{clipped(text)}`"


def described(value: Any) -> str:
    """A value of the data in words: `the number 750`, `a list of 2 items`."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return f"the boolean {str(value).lower()}"
    if isinstance(value, int | float):
        return f"the number {clipped(str(value))}"
    if isinstance(value, str):
        return f"the text {quoted(value)}" if value else "an empty text"
    if isinstance(value, dict):
        return "a map" if value else "an empty map"
    if isinstance(value, list):
        return f"a list of {counted(len(value), 'item')}" if value else "an empty list"
    return f"a {type(value).__name__}"


def kind_of(value: Any) -> str:
    """The type of a value in words, without the value."""
    if value is None:
        return "nothing (null)"
    for kinds, name in (
        (bool, "a boolean"),
        (int | float, "a number"),
        (str, "a text"),
        (dict, "a map"),
    ):
        if isinstance(value, kinds):
            return name
    return "a list"


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def listed(names: Sequence[str], joint: str = "or") -> str:
    """`a`, `a or b`, `a, b or c`; a long list is cut and says how many more there are."""
    if len(names) > _MOST:
        return ", ".join(names[:_MOST]) + f" or one of {len(names) - _MOST} more"
    if len(names) < 2:
        return "".join(names)
    return ", ".join(names[:-1]) + f" {joint} {names[-1]}"
