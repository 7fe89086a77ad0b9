"""Stop and start of containers on the real cluster, in roots of their own that really export."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler.planning.states import RunState
from tests.slurm.login_files import bashrc, cut_off
from tests.slurm.project import Project
from tests.slurm.test_exec import exec_in

pytestmark = pytest.mark.slurm

GPUS = {
    "infra": "slurm/alpha/gpu",
    "accelerators": "H100:1",
    "cpus": 1,
    "memory": 1,
    "image_id": "docker:chroot-image",
}


@pytest.fixture
def enroot(project: Project) -> Iterator[Project]:
    """The project, with a stand-in for enroot on the PATH of alice's shells and jobs."""
    site = project.site
    tool = site.write("alice", "tools/enroot", Path(__file__).with_name("enroot.sh").read_text())
    tool.chmod(0o755)
    exports = f"export PATH={tool.parent}:$PATH CONTAINERS={site.state}/containers\n"
    project.target = {"containers": "pyxis"}
    project.write_stack()
    with bashrc(site, "alice", exports):
        yield project
    shutil.rmtree(tool.parent)


def log(project: Project, rank: int) -> str:
    path = project.run_folder("bench") / f"logs/{rank}.log"
    return path.read_text() if path.exists() else ""


def test_what_setup_wrote_survives(enroot: Project) -> None:
    enroot.task(
        "bench",
        num_nodes=2,
        resources=GPUS,
        secrets={"TOKEN": None},
        setup="echo installed on $(hostname) > ~/note; echo setup",
        run='cat ~/note; echo "run ${#TOKEN}"; sleep 1000',
    )
    enroot.apply("--secret", "TOKEN=a value")
    enroot.until("bench", RunState.RUNNING)
    enroot.site.wait_for(lambda: "run 7" in log(enroot, 0) and "run 7" in log(enroot, 1), 40, "run")
    first = enroot.runs()[("bench", 1)].identity
    assert not (enroot.site.home("alice") / "note").exists()  # it is the container's own

    done = enroot.triplane("stop", "bench")
    assert done.code == 0, done.text
    assert "bench run 1 on alpha stopped" in done.out
    stopped = enroot.until("bench")
    assert (stopped.state, stopped.detail) == (RunState.CANCELLED, "stopped, to be started again")
    assert enroot.name not in enroot.sh("squeue", "-h", "-u", "alice", "-o", "%j")
    assert enroot.triplane("stop", "bench").code == 1
    assert "Nothing to do." in enroot.apply("--secret", "TOKEN=a value").out

    started = enroot.triplane("start", "bench")
    assert started.code == 0, started.text
    again = enroot.until("bench", RunState.RUNNING)
    assert again.identity != first
    enroot.site.wait_for(
        lambda: all(log(enroot, rank).count("run 7") == 2 for rank in (0, 1)), 40, "the second run"
    )
    for rank, host in enumerate(("alpha-h1", "alpha-h2")):
        assert log(enroot, rank) == f"setup\n{2 * f'installed on {host}{chr(10)}run 7{chr(10)}'}"
    assert enroot.triplane("start", "bench").code == 1
    assert enroot.triplane("cancel", "bench").code == 0
    enroot.until("bench")


def test_a_start_that_was_cut_off_submits_no_second_job(enroot: Project) -> None:
    enroot.task("bench", resources=GPUS, run="sleep 1000")
    enroot.apply()
    enroot.until("bench", RunState.RUNNING)
    enroot.site.wait_for(enroot.run_folder("bench").joinpath("started").exists, 20, "the run")
    assert enroot.triplane("stop", "bench").code == 0
    enroot.until("bench")
    cut_off(enroot.site, "alice", "tools", 1, "after")
    assert enroot.triplane("start", "bench").code == 3
    assert enroot.triplane("start", "bench").code == 0
    enroot.until("bench", RunState.RUNNING)
    assert len(enroot.jobs()) == 2
    assert enroot.triplane("cancel", "bench").code == 0
    enroot.until("bench")


def test_an_idle_one_stops_by_itself_and_comes_back(enroot: Project) -> None:
    enroot.task(
        "bench",
        run=None,
        resources={**GPUS, "autostop": 1},
        setup="echo installed on $(hostname) > ~/note",
    )
    enroot.apply()
    enroot.until("bench", RunState.RUNNING)
    begun = enroot.state / "work/bench.1/used"
    enroot.site.wait_for(begun.exists, 40, "the end of setup")
    # A command is no idleness, while it runs and when it is over.
    used = exec_in(enroot, "bench", "bash", "-c", "echo mine >> ~/note; sleep 65; cat ~/note")
    assert used.stdout.splitlines()[-1] == "mine", used.stderr
    assert enroot.runs()[("bench", 1)].state is RunState.RUNNING
    stopped = enroot.until("bench", seconds=150)
    assert (stopped.state, stopped.detail) == (
        RunState.SUCCEEDED,
        "stopped, to be started again",
    )
    assert enroot.triplane("start", "bench").code == 0
    enroot.until("bench", RunState.RUNNING)
    enroot.site.wait_for((enroot.state / "work/bench.1/enter.sh").exists, 40, "the run")
    again = exec_in(enroot, "bench", "cat", "/root/note")
    assert "mine" in again.stdout, again.stderr
    assert enroot.triplane("cancel", "bench").code == 0
    enroot.until("bench")


def test_without_a_container_nothing_is_stopped(project: Project) -> None:
    project.task("bench", run="sleep 1000")
    project.apply()
    project.until("bench", RunState.RUNNING)
    done = project.triplane("stop", "bench")
    assert done.code == 1
    assert "only a task alone, in a container, can be stopped" in done.err
    assert project.runs()[("bench", 1)].state is RunState.RUNNING
