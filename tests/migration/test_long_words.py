"""Words of many thousand letters in a script cost no more than their length."""

import time

import pytest

from compiler.migration.migrating import migrate
from compiler.migration.settings import Settings

LETTERS = "x" * 60_000


@pytest.mark.parametrize("line", [f"# {LETTERS}", f"# {LETTERS} a://b@c", f"echo {LETTERS}"])
def test_long_words_take_no_squares_of_time(line: str) -> None:
    start = time.process_time()
    migrate(f"#!/bin/bash\n{line}\nhostname\n".encode(), "job.sh", Settings())
    assert time.process_time() - start < 8
