"""Two sides of a difference, row by row."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import yaml

from compiler.planning.because import Because
from compiler.planning.differences import FieldAction, FieldChange
from compiler.planning.plan import ObjectChange
from compiler.planning.views.wording import because_words, visible

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_LONGEST_LINE = 1_000


@dataclass(frozen=True, slots=True)
class Cell:
    """One side of a row: `at` its line's number or empty, `style` a class of the page, `said`
    what a screen reader says where others see a colour."""

    at: str = ""
    text: str = ""
    style: str = ""
    said: str = ""


NOTHING = Cell()


@dataclass(frozen=True, slots=True)
class Row:
    """A line on both sides, or the heading of a field (`heading` set); `because` is why."""

    left: Cell = NOTHING
    right: Cell = NOTHING
    heading: str | None = None
    because: str = ""


def created_rows(item: ObjectChange, sources: Mapping[int, str]) -> Iterator[Row]:
    """The lines of an object that comes; `sources` say where a line (from 1) comes from."""
    text = item.artifact.text if item.artifact is not None else ""
    for at, line in enumerate(text.splitlines(), start=1):
        yield Row(right=_cell(line, "add", at), because=sources.get(at, ""))


def changed_rows(fields: Sequence[FieldChange]) -> Iterator[Row]:
    """The differences of an object, field by field."""
    for field in fields:
        reason = _reason(field.because)
        yield Row(heading=field.path or "text", because=reason)
        if field.lines:
            yield from _unified(field.lines)
            continue
        before = [] if field.action is FieldAction.ADD else _lines_of(field.before)
        after = [] if field.action is FieldAction.REMOVE else _lines_of(field.after)
        for left, right in zip_longest(before, after):
            yield Row(
                _cell(left, "remove") if left is not None else NOTHING,
                _cell(right, "add") if right is not None else NOTHING,
                because=reason,
            )


def _unified(lines: Sequence[str]) -> Iterator[Row]:
    """The lines of a unified diff beside one another: what goes next to what comes for it."""
    left = right = 1
    gone: list[Cell] = []
    come: list[Cell] = []
    for line in lines:
        mark, text = line[:1], line[1:]
        if mark == "-":
            gone.append(_cell(text, "remove", left))
            left += 1
            continue
        if mark == "+":
            come.append(_cell(text, "add", right))
            right += 1
            continue
        yield from _pairs(gone, come)
        gone, come = [], []
        hunk = _HUNK.match(line)
        if hunk:
            left, right = int(hunk[1]), int(hunk[2])
            yield Row(Cell("", line, " quiet"), Cell("", "", " quiet"))
            continue
        yield Row(_cell(text, "", left), _cell(text, "", right))
        left, right = left + 1, right + 1
    yield from _pairs(gone, come)


def _pairs(gone: Sequence[Cell], come: Sequence[Cell]) -> Iterator[Row]:
    for left, right in zip_longest(gone, come, fillvalue=NOTHING):
        yield Row(left, right)


def _cell(text: str, style: str, at: int | None = None) -> Cell:
    shown = visible(text)
    if len(shown) > _LONGEST_LINE:
        shown = f"{shown[:_LONGEST_LINE]}… ({len(shown)} characters)"
    said = {"add": "added: ", "remove": "removed: "}.get(style, "")
    return Cell("" if at is None else str(at), shown, f" {style}" if style else "", said)


def _lines_of(value: object) -> list[str]:
    """A value as YAML, so that maps and lists have lines."""
    if isinstance(value, str):
        return value.splitlines() or ['""']
    if isinstance(value, dict | list) and value:
        text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=10_000)
        return text.splitlines()
    return [json.dumps(value, ensure_ascii=False)]


def _reason(because: Sequence[Because]) -> str:
    return "; ".join(visible(because_words(item)) for item in because)
