"""What is often read wrongly, and what users complain of: each row of docs/dialect.md is shown.

A code that a row names stands in the diagnostics of the golden case (or the report of the case
of migration) behind it; a test that it names is there.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from compiler.diagnostics.code import all_codes
from tests.dialect.purposes import rows

TESTS = Path(__file__).parents[1]
GOLDEN, MIGRATION = TESTS / "golden", TESTS / "migration" / "cases"
HEADINGS = ("Constructions that are often read wrongly", "What users complain of")
ROWS = [row for heading in HEADINGS for row in rows(heading)]
# Complaints about what is no input: plans, placement, queues, other tools.
NOT_INPUT = {10, 18, 19, 23, *range(25, 31), 32, 33, 34, 36, 37, 40}


@cache
def _tests() -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted(TESTS.rglob("test_*.py")))


def _names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}-{row[1][:40]}")
def test_a_row_is_shown(row: list[str]) -> None:
    _, _, ours, shown = row
    said = ""
    for name in _names(shown):
        if name.startswith("test_"):
            assert f"def {name}(" in _tests()
            continue
        folder = next(place / name for place in (GOLDEN, MIGRATION) if (place / name).is_dir())
        for path in sorted(folder.iterdir()):
            if path.is_file():
                said += path.read_text(encoding="utf-8")
    codes = [name for name in _names(ours) if name in all_codes()]
    if any(name.startswith("test_") for name in _names(shown)) or not codes:
        return
    assert any(code in said for code in codes)


def test_every_construction_has_its_cases() -> None:
    numbers = [int(row[0]) for row in rows(HEADINGS[0])]
    assert numbers == list(range(1, 26))
    cases = {name for row in rows(HEADINGS[0]) for name in _names(row[3])}
    assert cases == {path.name for path in GOLDEN.glob("dialect-*")}


def test_every_complaint_about_input_has_a_row() -> None:
    numbers = {int(row[0]) for row in rows(HEADINGS[1])}
    assert numbers | NOT_INPUT == set(range(1, 41))
    assert not numbers & NOT_INPUT
