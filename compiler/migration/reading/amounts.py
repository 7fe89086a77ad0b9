"""Times, amounts of memory and numbers of nodes: read, and written as Slurm writes them."""

from __future__ import annotations

import re

from compiler.migration.reading.numerals import BLANKS, Refused, leading_integer, to_int32

UNLIMITED = -1
"""Minutes or seconds without an end."""

_NO_LIMIT = ("-1", "infinite", "unlimited")
_TIME = re.compile(r"[0-9:-]*")
_MIB = {"k": None, "m": 1, "g": 1024, "t": 1024 * 1024}


def seconds(text: str) -> int | None:
    """`[days-]hours:minutes:seconds` and its short forms; None for what is no time.

    Without days the first of one or two numbers is minutes; behind days it is hours.
    """
    if text.lower() in _NO_LIMIT:
        return UNLIMITED
    if not text or not _TIME.fullmatch(text):
        return None
    groups = len(re.findall(r"[0-9]+", text))
    dashes, colons = text.count("-"), text.count(":")
    if not groups or dashes > 1 or colons > 2 or ":" in text.partition("-")[0] * dashes:
        return None
    if colons and groups < colons + 1 + dashes:
        return None
    if dashes:
        return _scanned(text, r"([0-9]+)(?:-([0-9]+)(?::([0-9]+)(?::([0-9]+))?)?)?", days=True)
    return _scanned(text, r"([0-9]+)(?::([0-9]+)(?::([0-9]+))?)?", days=False)


def _scanned(text: str, form: str, *, days: bool) -> int:
    match = re.match(form, text)
    numbers = [to_int32(int(part)) for part in match.groups() if part is not None] if match else []
    if days:
        day, hour, minute, second = (numbers + [0] * 4)[:4]
        return day * 86400 + hour * 3600 + minute * 60 + second
    if len(numbers) == 3:
        return numbers[0] * 3600 + numbers[1] * 60 + numbers[2]
    minute, second = (numbers + [0] * 2)[:2]
    return minute * 60 + second


def minutes(text: str, option: str) -> int:
    """A time limit in whole minutes, rounded up; 0 means no limit. Raise Refused."""
    found = seconds(text)
    if found is None:
        raise Refused(f"`{text}` is no time for --{option}")
    if found == UNLIMITED:
        return UNLIMITED
    return (found + 59) // 60 or UNLIMITED


def time_text(total_seconds: int) -> str:
    """`hours:minutes:seconds` with days in front where there are any."""
    if total_seconds < 0:
        return "UNLIMITED"
    days, rest = divmod(total_seconds, 86400)
    clock = f"{rest // 3600:02}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days}-{clock}" if days else clock


def minutes_text(value: int) -> str:
    return "UNLIMITED" if value == UNLIMITED else time_text(value * 60)


def mebibytes(text: str, option: str) -> int:
    """An amount with K, M (where nothing is said), G or T and perhaps a B. Raise Refused."""
    number, unit = leading_integer(text)
    if number is None or number < 0 or unit.lower() not in ("", *_MIB, *(f"{u}b" for u in _MIB)):
        raise Refused(f"`{text}` is no amount for --{option}")
    factor = _MIB[unit[0].lower()] if unit else 1
    return number * factor if factor else (number + 1023) // 1024


def mebibytes_text(value: int) -> str:
    """In the largest unit in which it is whole; M is not written. 0 is `0?`, as Slurm says."""
    for unit in ("", "G", "T", "P"):
        if value and value % 1024:
            return f"{value}{unit}"
        value //= 1024
    return f"{value}?"


def node_range(text: str) -> tuple[int, int]:
    """(least, most) nodes of `4`, `2-4`, `1k`; most is 0 where there is no end. Raise Refused."""
    low, dash, high = text.partition("-")
    if not dash:
        number = _nodes(text)
        if number < 0:
            raise Refused(f"`{text}` is no number of nodes")
        return number, number
    least, most = _nodes(low), _nodes(high)
    least = 1 if least < 0 else least
    if most and most < least:
        raise Refused(f"at most {most} nodes are fewer than at least {least}")
    return least, most


def _nodes(text: str) -> int:
    number, rest = leading_integer(text)
    if number is None:
        if rest.strip(BLANKS):
            raise Refused(f"`{text}` is no number of nodes")
        return -1
    for unit, factor in (("k", 1024), ("m", 1024 * 1024)):
        if rest[:1].lower() == unit:
            number, rest = number * factor, rest[1:]
    if rest.strip(BLANKS):
        raise Refused(f"`{text}` is no number of nodes")
    return to_int32(number)


def nodes_text(least: int, most: int) -> str:
    return str(least) if least == most else f"{least}-{most}"
