"""The tests on a fresh Debian 13: Python 3.13, Slurm 24.11, and every step of the set-up."""

from __future__ import annotations

import re
import shutil

import pytest

from tests.kubernetes_site import build
from tests.long.machines import fresh_machine, last_line

pytestmark = [pytest.mark.long, pytest.mark.timeout(5400)]

# What `make test` does. Kubernetes is left out: its programs are the same on every Debian, and
# they would be built again; the engine of Pulumi, which is built with them, is brought along.
PROGRAMS = "/usr/local/bin"
STEPS = """\
set -e
export CI=true DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq --no-install-recommends make
make lint
.venv/bin/python -m tests.slurm_site install
.venv/bin/python -m tests.browser install
.venv/bin/python -m pytest -m "not kubernetes"
"""


def test_all_pass_on_a_fresh_debian_13():
    with fresh_machine("trixie") as machine:
        engine = build.binary("pulumi")
        assert engine is not None, "no pulumi: python -m tests.kubernetes_site install"
        for program in engine.parent.glob("pulumi*"):
            shutil.copy(program, f"{machine.root}{PROGRAMS}")
        output = machine.run("bash", "-c", STEPS, timeout=5000, KUBEBUILDER_ASSETS=PROGRAMS)
        closing = last_line(output)
        assert re.search(r"\b\d{4,} passed", closing), closing
        assert not re.search(r"failed|error|skipped", closing), output[-5000:]
        assert machine.run(".venv/bin/python", "-V").startswith("Python 3.13")
        assert machine.run("slurmctld", "-V").startswith("slurm-wlm 24.11")
