"""Accelerators in all their forms: a name, a count, a set, a list, an amount of memory."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from compiler.diagnostics.codes import model_resources as codes
from compiler.model.builder import Builder, Malformed, is_number, shown
from compiler.model.resources import Accelerator, Choice
from compiler.source.numbers import whole
from compiler.source.paths import Path
from compiler.source.wording import described

_by_memory = re.compile(r"(?:([a-z]+):)?([0-9]+)([gmt])b(\+?)(?::([^:]*))?", re.I)
_GIB = {"m": 1 / 1024, "g": 1.0, "t": 1024.0}
_MOST_DEVICES = 10_000
_FORMS = "NAME, NAME:COUNT, or by memory such as 80GB+:8"


class Request(NamedTuple):
    """One text read: the name of a device, or the memory (in GiB) that it must have.

    `number` is the count, None where the text gives none; `maker` is in lower case.
    """

    name: str
    number: float | None
    memory: float | None = None
    at_least: bool = False
    maker: str | None = None


class Devices(NamedTuple):
    """What an `accelerators` value asks for; `where` are the paths, item by item."""

    choice: Choice
    accelerators: tuple[Accelerator, ...]
    where: tuple[Path, ...]


@lru_cache(maxsize=1024)
def parse_accelerator(text: str) -> Request:
    """`H100`, `H100:8`, `L4:0.5`, `80GB+:4`, `nvidia:16GB:2`."""
    match = _by_memory.fullmatch(text.strip())
    if match is not None:
        maker, size, unit, plus, count = match.groups()
        number = None if count is None else _count(text, count)
        if number is not None and number != int(number):
            raise Malformed(
                f"{shown(text)}: devices chosen by memory are counted in whole numbers",
                expected="an integer",
            )
        form = f"{size}{unit.upper()}B{plus}"
        maker = maker.lower() if maker else None
        name = f"{maker}:{form}" if maker else form
        return Request(name, number, whole(size) * _GIB[unit.lower()], bool(plus), maker)
    name, colon, count = (part.strip() for part in text.partition(":"))
    if not name or "," in text or ":" in count:
        hint = "several kinds are a list (in order) or a map (any of them)" if "," in text else None
        raise Malformed(f"{shown(text)} names no accelerator", expected=_FORMS, hint=hint)
    return Request(name, _count(text, count) if colon else None)


def _count(text: str, count: str) -> float:
    try:
        number = float(count)
    except ValueError:
        number = float("nan")
    if "_" in count or not is_number(number):
        raise Malformed(f"the count in {shown(text)} is no number", expected=_FORMS)
    if number <= 0:
        raise Malformed(f"the count in {shown(text)} is not above 0", expected="a count above 0")
    return number


def build_accelerators(b: Builder, path: Path, value: object) -> Devices:
    """Read the value of `accelerators` or `gpus` at `path`.

    One device is ONE, a map ANY_OF, a list ORDERED. Faults are reported; what can be read
    is returned.
    """
    if isinstance(value, str):
        entries = [(path, value, None)]
        choice = Choice.ONE
    elif isinstance(value, dict):
        entries = [((*path, key), key, count) for key, count in value.items()]
        choice = Choice.ANY_OF
    elif isinstance(value, list):
        entries = [((*path, at), item, None) for at, item in enumerate(value)]
        choice = Choice.ORDERED
    else:
        b.unexpected(path, value, "a name, a map of names to counts, or a list")
        return Devices(Choice.ONE, (), ())
    if not entries:
        b.report(
            codes.ACCELERATOR_VALUE,
            path,
            "no accelerator is named",
            expected=_FORMS,
            hint="leave the key out to ask for none",
        )
    found: dict[Accelerator, Path] = {}
    for where, text, count in entries:
        kinds = _one(b, where, text, count)
        if len(kinds) > 1 and choice is Choice.ONE:
            choice = Choice.ANY_OF
        for accelerator in kinds:
            found.setdefault(accelerator, where)
    if len(found) == 1:
        choice = Choice.ONE
    return Devices(choice, tuple(found), tuple(found.values()))


def _one(b: Builder, path: Path, text: object, count: object) -> tuple[Accelerator, ...]:
    if not isinstance(text, str):
        b.unexpected(path, text, _FORMS)
        return ()
    request = b.parsed(codes.ACCELERATOR_VALUE, path, parse_accelerator, text)
    if request is None:
        return ()
    number = request.number
    if count is not None:
        if number is not None or not is_number(count) or count <= 0:  # type: ignore[operator]
            b.report(
                codes.ACCELERATOR_VALUE,
                path,
                f"{shown(count)} cannot be the count of {text}",
                found=described(count),
                expected="a number above 0, given once",
            )
            return ()
        number = float(count)  # type: ignore[arg-type]
    number = 1.0 if number is None else number
    if number > _MOST_DEVICES:
        b.report(
            codes.ACCELERATOR_VALUE,
            path,
            f"no node has {number:.12g} devices",
            expected=f"at most {_MOST_DEVICES}",
        )
        return ()
    if request.memory is None:
        return (Accelerator(request.name, number),)
    names = b.lookup(request.memory, request.at_least, request.maker) if b.lookup else ()
    if not names:
        b.report(
            codes.ACCELERATOR_UNRESOLVED,
            path,
            f"no known accelerator fits {request.name}",
            found=described(text),
            expected="the memory of a device in the catalogue (`triplane catalog`)",
        )
        return (Accelerator(request.name, number),)
    return tuple(Accelerator(name, number) for name in names)
