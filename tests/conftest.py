"""What all tests share: the flags, and the fixtures of the real Slurm site."""

from __future__ import annotations

import signal

import pytest

from tests.needs import in_ci

pytest_plugins = ["tests.fixtures_slurm", "tests.fixtures_kubernetes"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="rewrite the golden files (never in CI)"
    )
    parser.addoption("--long", action="store_true", help="also the tests of the long mode")


def pytest_configure(config: pytest.Config) -> None:
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell's background job ignores the keyboard, and all that it starts with it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if config.getoption("--update-golden") and in_ci():
        raise pytest.UsageError("CI never updates golden files")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    left_out = [item for item in items if "long" in item.keywords]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if "long" not in item.keywords]
