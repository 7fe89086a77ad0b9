"""No input brings a command down: 2,000 pieces in CI, 100,000 in the long mode.

What a piece once showed to be wrong is a small case under the tests of the module that was
mended; `python -c` with the number of a fault makes its input again.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.dialect.fuzzing import Field, inside

SHARES = {
    "validate": 600,
    "render": 500,
    "stack": 250,
    "plan": 200,
    "migrate": 200,
    "records": 150,
    "plan-file": 100,
}
LONG = 50
"""How many times as many pieces the long mode takes; then from behind those of CI on."""


@pytest.fixture
def field(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Field]:
    monkeypatch.setenv("HOME", str(tmp_path))
    made = Field(tmp_path / "project")
    with inside(made.folder):
        made.prepare()
        yield made


def _faults(field: Field, command: str, numbers: range) -> list[str]:
    run = field.commands()[command]
    found = (run(number) for number in numbers)
    return [str(fault) for fault in found if fault][:5]


def test_there_are_enough_pieces() -> None:
    assert sum(SHARES.values()) >= 2_000
    assert sum(SHARES.values()) * LONG >= 100_000


@pytest.mark.parametrize("command", SHARES)
def test_no_input_brings_a_command_down(field: Field, command: str) -> None:
    assert _faults(field, command, range(SHARES[command])) == []


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("part", range(1, LONG))
@pytest.mark.parametrize("command", SHARES)
def test_nor_does_more_of_it(field: Field, command: str, part: int) -> None:
    share = SHARES[command]
    assert _faults(field, command, range(part * share, (part + 1) * share)) == []
