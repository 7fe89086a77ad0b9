"""Digits of any length to a number: Python refuses to convert those that nobody means."""

from __future__ import annotations

from compiler.source.limits import MAX_NUMBER_LENGTH

_BEYOND = 10**MAX_NUMBER_LENGTH


def whole(digits: str | int) -> int:
    """The number that a text of digits, perhaps with a sign, writes.

    One that is longer than any sensible one becomes one beyond all bounds, with its sign.
    """
    if isinstance(digits, int) or len(digits) <= MAX_NUMBER_LENGTH:
        return int(digits)
    return -_BEYOND if digits.lstrip().startswith("-") else _BEYOND
