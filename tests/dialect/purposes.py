"""Where triplane differs from SkyPilot on purpose: the tables of docs/dialect.md, as data.

The page is the only place that says so; a difference that it does not list fails the tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from compiler.diagnostics import Diagnostic

PAGE = Path(__file__).parents[2] / "docs" / "dialect.md"


def rows(heading: str) -> Iterator[list[str]]:
    """The cells of the table under a heading of the page, without its two head lines."""
    text = PAGE.read_text(encoding="utf-8")
    section = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.M | re.S)
    assert section is not None, heading
    lines = [line for line in section[1].splitlines() if line.startswith("|")]
    for line in lines[2:]:
        yield [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


@cache
def _stricter() -> tuple[tuple[str, str], ...]:
    return tuple((code.strip("`"), where.strip("`")) for code, where, _ in rows("Stricter"))


def is_on_purpose(errors: Iterable[Diagnostic]) -> bool:
    """Whether the page has a row for every one of these errors."""
    return all(
        any(
            error.code == code and (where == "everywhere" or where in error.message)
            for code, where in _stricter()
        )
        for error in errors
    )
