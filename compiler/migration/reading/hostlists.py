"""Lists of hosts: `gpu[01-03,7],login1`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.migration.reading.numerals import Refused

_RANGE = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_LARGEST = 65536


def split(text: str, separators: str = "\t, ") -> list[str]:
    """The parts between separators that do not stand in brackets."""
    parts = [""]
    depth = 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if depth <= 0 and character in separators:
            parts.append("")
        else:
            parts[-1] += character
    return [part for part in parts if part]


def hosts(text: str) -> list[str]:
    """Every name that the list stands for; what is no range is taken as it is.

    Raise Refused for a range that runs backwards.
    """
    return [name for part in split(text) for name in _expanded(part)]


def count(text: str) -> int:
    """How many different hosts there are."""
    return len(set(hosts(text)))


def ranged(names: list[str]) -> str:
    """The list again in its short form, names in their order."""
    groups: list[tuple[str, list[str]]] = []
    for name in names:
        head = name.rstrip("0123456789")
        number = name[len(head) :]
        if number and groups and groups[-1][0] == head and groups[-1][1]:
            groups[-1][1].append(number)
        else:
            groups.append((head, [number] if number else []))
    return ",".join(_short(head, numbers) for head, numbers in groups)


def _short(head: str, numbers: list[str]) -> str:
    runs: list[list[str]] = []
    for number in numbers:
        last = runs[-1][-1] if runs else None
        if last is not None and f"{int(last) + 1:0{len(last)}}" == number:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = [run[0] if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs]
    if not parts:
        return head
    if len(parts) == 1 and "-" not in parts[0]:
        return head + parts[0]
    return f"{head}[{','.join(parts)}]"


def _expanded(part: str) -> Iterator[str]:
    head, bracket, rest = part.partition("[")
    inner, closed, tail = rest.partition("]")
    if not bracket or not closed:
        yield part
        return
    numbers = list(_numbers(inner))
    if not numbers:
        yield part
        return
    for number in numbers:
        for following in _expanded(tail) if tail else [""]:
            yield f"{head}{number}{following}"


def _numbers(text: str) -> Iterator[str]:
    for item in text.split(","):
        match = _RANGE.fullmatch(item)
        if match is None:
            return
        low, high = match[1], match[2] or match[1]
        if int(high) < int(low):
            raise Refused(f"`{text}` is no range of hosts")
        for number in range(int(low), min(int(high), int(low) + _LARGEST) + 1):
            yield f"{number:0{len(low)}}"
