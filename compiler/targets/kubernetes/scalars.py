"""Findings, and the checks of single values."""

from __future__ import annotations

import base64
import binascii
import enum
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from compiler.source.suggestions import suggest

Path = tuple[str | int, ...]


class Fault(enum.StrEnum):
    """What can be wrong with a value."""

    UNKNOWN_FIELD = "unknown field"
    MISSING_FIELD = "missing field"
    WRONG_TYPE = "wrong type"
    BAD_VALUE = "bad value"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault at `path`; for an unknown or missing field the last step is the field."""

    fault: Fault
    path: Path
    message: str
    found: str | None = None
    expected: str | None = None
    hint: str | None = None


Check = Callable[[object, Path, list[Finding]], None]

_QUANTITY = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.IGNORECASE)
_LIMITS = {"int32": 2**31, "int64": 2**63}


def _text(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) is not str:
        out.append(wrong_type(path, value, "text"))


def _boolean(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) is not bool:
        out.append(wrong_type(path, value, "true or false"))


def _number(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) not in (int, float):
        out.append(wrong_type(path, value, "a number"))


def integer(kind: str) -> Check:
    limit = _LIMITS[kind]

    def check(value: object, path: Path, out: list[Finding]) -> None:
        if type(value) is not int:
            out.append(wrong_type(path, value, "a whole number"))
        elif not -limit <= value < limit:
            out.append(_bad(path, value, f"a number of {kind[3:]} bits"))

    return check


def _int_or_text(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) not in (int, str):
        out.append(wrong_type(path, value, "a whole number or text"))


def _quantity(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) in (int, float):
        return
    if type(value) is not str:
        out.append(wrong_type(path, value, "a quantity"))
    elif not _QUANTITY.fullmatch(value):
        out.append(_bad(path, value, "a quantity such as 4, 500m, 16Gi or 1e3"))


def _bytes(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) is not str:
        out.append(wrong_type(path, value, "base64 text"))
        return
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        out.append(_bad(path, value, "base64 text"))


def _time(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) is not str:
        out.append(wrong_type(path, value, "a time"))
    elif not _TIME.fullmatch(value):
        out.append(_bad(path, value, "a time such as 2026-01-02T03:04:05Z"))


def _anything(value: object, path: Path, out: list[Finding]) -> None:
    """No fault: the field holds whatever its user puts there."""


def one_of(values: tuple[str, ...]) -> Check:
    allowed = frozenset(values)
    expected = ", ".join(item or '""' for item in values)

    def check(value: object, path: Path, out: list[Finding]) -> None:
        if type(value) is not str:
            out.append(wrong_type(path, value, f"one of {expected}"))
        elif value not in allowed:
            out.append(_bad(path, value, f"one of {expected}", did_you_mean(value, values)))

    return check


SCALARS: dict[str, Check] = {
    "string": _text,
    "boolean": _boolean,
    "number": _number,
    "intstr": _int_or_text,
    "quantity": _quantity,
    "bytes": _bytes,
    "time": _time,
    "any": _anything,
}


def wrong_type(path: Path, value: object, expected: str) -> Finding:
    where = f"`{path[-1]}`" if path else "the document"
    message = f"{where} is not {expected}"
    return Finding(Fault.WRONG_TYPE, path, message, found=shown(value), expected=expected)


def _bad(path: Path, value: object, expected: str, hint: str | None = None) -> Finding:
    message = f"{shown(value)} is not a value of `{path[-1]}`"
    return Finding(Fault.BAD_VALUE, path, message, shown(value), expected, hint)


def shown(value: object) -> str:
    """A value as a message quotes it: short, and never the inside of a map or list."""
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    text = str(value)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return f"`{text}`" if isinstance(value, str) else f"the number {text}"


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """A hint with the nearest known name, None where none is near."""
    near = suggest(word, known)
    return f"did you mean `{near}`?" if near else None
