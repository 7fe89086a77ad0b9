"""The reader against the real sbatch: made-up headers, and those of the golden cases.

Where there is no sbatch the tests are skipped and the summary says so; with CI=true they fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler.migration.reading.header import read
from compiler.migration.reading.options import OptionTable, option_table
from tests.migration.headers import header
from tests.migration.real_sbatch import Judge, differences, why_not
from tests.needs import give_up

CASES = sorted((Path(__file__).parent / "cases").glob("*/job.sh"))
_SEEDS = 20
_EACH = 40


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Judge]:
    reason = why_not()
    if reason is not None:
        give_up(f"the reader was not compared with the real sbatch: {reason}")
    yield Judge(tmp_path_factory.mktemp("judge"))


@pytest.fixture(scope="module")
def table(judge: Judge) -> OptionTable:
    """The options of this sbatch, which here has no plug-ins."""
    return option_table(judge.version(), frozenset())


@pytest.mark.parametrize("first", range(0, _SEEDS * _EACH, _EACH))
def test_headers_made_up_at_random(first: int, judge: Judge, table: OptionTable) -> None:
    wrong = {}
    for seed in range(first, first + _EACH):
        script = header(seed)
        found = differences(read(script, table), judge.judge(script), judge)
        if found:
            wrong[script] = found
    assert wrong == {}


@pytest.mark.parametrize("path", CASES, ids=[path.parent.name for path in CASES])
def test_headers_of_the_cases(path: Path, judge: Judge, table: OptionTable) -> None:
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    assert differences(read(text, table), judge.judge(text), judge) == []


def test_the_headers_are_of_both_kinds(judge: Judge, table: OptionTable) -> None:
    refused = [read(header(seed), table).refusal is not None for seed in range(300)]
    assert 60 < sum(refused) < 240
