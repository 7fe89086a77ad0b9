"""All tests on a fresh Debian 13: Python 3.13, Slurm 24.11, and every step of the set-up."""

from __future__ import annotations

import re

import pytest

from tests.long.machines import fresh_machine, last_line

pytestmark = [pytest.mark.long, pytest.mark.timeout(5400)]


def test_ci_passes_on_a_fresh_debian_13():
    with fresh_machine("trixie") as machine:
        # Not even make is there: .ci/run installs what it needs.
        output = machine.run("bash", ".ci/run", timeout=5000)
        closing = last_line(output)
        print(closing)
        assert re.search(r"\b\d{3,} passed", closing), closing
        assert not re.search(r"failed|error|skipped", closing), output[-5000:]
        assert machine.run(".venv/bin/python", "-V").startswith("Python 3.13")
        assert machine.run("slurmctld", "-V").startswith("slurm-wlm 24.11")
