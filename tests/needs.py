"""What a test does about something that is not there: skipped with a reason, in CI a failure."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def in_ci() -> bool:
    return os.environ.get("CI", "").lower() in ("1", "true", "yes")


def give_up(reason: str) -> NoReturn:
    """Skip the test, or fail where everything has to be run."""
    if in_ci():
        pytest.fail(f"CI needs it: {reason}", pytrace=False)
    pytest.skip(f"NOT RUN: {reason}")
