"""The README's promises on a fresh Debian 12: a demo without root, and the tests' own set-up."""

from __future__ import annotations

import pytest

from tests.long.machines import CHECKOUT, Machine, fresh_machine, last_line

pytestmark = [pytest.mark.long, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def machine():
    with fresh_machine("bookworm") as made:
        yield made


def test_make_demo_needs_no_root_and_no_server(machine: Machine):
    machine.run("sh", "-c", "! command -v sbatch make")
    machine.run("apt-get", "-q", "update")
    install = ["apt-get", "-q", "install", "-y", "--no-install-recommends"]
    machine.run(*install, "make", "python3-venv", DEBIAN_FRONTEND="noninteractive")
    machine.run("cp", "-R", CHECKOUT, "/srv/nobody", cwd="/")
    machine.run("chown", "-R", "nobody", "/srv/nobody", cwd="/")
    output = machine.run("make", "demo", cwd="/srv/nobody", user="nobody", home="/srv/nobody")
    assert last_line(output).startswith("== Done."), output[-5000:]


def test_the_slurm_site_installs_itself_and_runs(machine: Machine):
    output = machine.run("python3", "-m", "tests.slurm_site", "install", timeout=1200)
    assert last_line(output) == "all packages are installed"
    site = "python3 -m tests.slurm_site"
    job = f"{site} run /tmp/site alpha alice srun -N2 sh -c 'echo ran on $(hostname)'"
    output = machine.run("sh", "-ec", f"{site} up /tmp/site; {job}; {site} down /tmp/site")
    nodes = {line for line in output.splitlines() if line.startswith("ran on alpha-")}
    assert len(nodes) == 2, output
    assert last_line(machine.run("python3", "-m", "tests.slurm_site", "install")) == (
        "all packages are installed"
    )
