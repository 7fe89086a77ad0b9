"""Applies that are killed, or that meet each other, on the real cluster."""

from __future__ import annotations

import getpass
import random
import re
import shutil
import signal
import socket
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from compiler.planning.states import RunState
from tests.command_line import Output
from tests.slurm.login_files import bashrc
from tests.slurm.project import Project
from tests.slurm_site import SlurmSite

pytestmark = pytest.mark.slurm

SECRET = "--secret=TOKEN=a value"


@pytest.fixture(scope="module")
def killed(slurm_site: SlurmSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project whose applies are killed, one work after the other."""
    project = Project(slurm_site, tmp_path_factory.mktemp("killed"), "killed")
    yield project
    project.clean()


def kill_after(process: subprocess.Popen[str], pattern: str, seconds: float) -> str:
    """Kill it that long after a line of its progress; returns what it had said."""
    said = []
    assert process.stderr is not None
    for line in process.stderr:
        said.append(line)
        if re.search(pattern, line):
            time.sleep(seconds)
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.communicate()
    return "".join(said)


def apply_after(project: Project, *words: str) -> None:
    """Apply after the process was killed: what it had begun may still be going on. The lock that
    it could not give back is in nobody's way."""
    again = project.triplane("apply", "--auto-approve", *words)
    assert again.code == 0, again.text


# Each line begins a call to the cluster, which takes about a tenth of a second.
_MOMENTS = ("reserve run", "upload ", "submit ", r"\bjob \d+")


@pytest.mark.parametrize("seed", range(4))
def test_killed_and_applied_again(killed: Project, seed: int) -> None:
    kill_and_apply_again(killed, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4, 54))
def test_killed_at_any_moment_and_applied_again(killed: Project, seed: int) -> None:
    kill_and_apply_again(killed, seed)


def kill_and_apply_again(killed: Project, seed: int) -> None:
    """A new work of the project, whose apply is killed at a moment that the seed chooses."""
    pattern = _MOMENTS[seed % len(_MOMENTS)]
    delay = random.Random(seed).uniform(0, 0.2)
    work = f"work-{seed}"
    (killed.folder / work).mkdir()
    (killed.folder / work / "code.sh").write_text(f"echo {killed.name} {seed} ${{#TOKEN}}\n")
    path = killed.task(work, "bash code.sh", workdir=work, secrets={"TOKEN": None})
    words = (f"tasks/{path.name}", SECRET)

    process = killed.start("apply", "--auto-approve", *words)
    said = kill_after(process, pattern, delay)
    # On a busy machine it may have come to its end just before.
    assert process.returncode in (-signal.SIGKILL, 0), said

    apply_after(killed, *words)
    # A number that the killed one had taken and not used is left out.
    (submitted,) = [run for run in killed.runs_submitted() if run.startswith(f"{work}.")]
    run = int(submitted.rpartition(".")[2])
    ended = killed.until(work, run=run)
    assert (ended.state, ended.exit_code) == (RunState.SUCCEEDED, 0)
    assert killed.log(work, run=run) == f"{killed.name} {seed} 7\n"
    record = killed.record(work, run)
    assert (record["stage"], record["identity"]) == ("ended", ended.identity)
    assert record["spec"] and record["files"] and record["secrets"]
    assert not list((killed.state / "secrets").glob(f"{work}.*"))
    killed.triplane("unlock")


def test_killed_while_slurm_takes_its_time(project: Project) -> None:
    """What was sent goes on without its sender; whoever looks waits for it."""
    slow = project.site.write(
        "alice", "slow/sbatch", '#!/bin/sh\n: >"$0.called"\nsleep 4\nexec /usr/bin/sbatch "$@"\n'
    )
    slow.chmod(0o755)
    with bashrc(project.site, "alice", f"PATH={slow.parent}:$PATH\n"):
        project.task("work")
        process = project.start("apply", "--auto-approve")
        kill_after(process, "submit ", 0.5)
        project.site.wait_for(slow.with_name("sbatch.called").exists, 10, "the slow sbatch")
        apply_after(project)
    shutil.rmtree(slow.parent)
    assert project.runs_submitted() == ["work.1"]
    assert project.record("work")["identity"] in project.jobs()


def test_the_second_apply_fails_clearly(project: Project) -> None:
    project.task("slow")
    first = project.start("apply", "--auto-approve")
    assert first.stderr is not None
    for line in first.stderr:
        if "reserve run" in line:
            first.send_signal(signal.SIGSTOP)
            break
    try:
        second = project.triplane("apply", "--auto-approve")
        assert second.code == 1
        assert (
            f"is locked by {getpass.getuser()}@{socket.gethostname()} pid {first.pid} plan "
            in second.err
        )
        assert "Traceback" not in second.text
    finally:
        first.send_signal(signal.SIGCONT)
    out, err = first.communicate(timeout=60)
    assert first.returncode == 0, err
    assert "slurm/alpha/slow run 1: created (" in out
    project.apply()
    assert project.runs_submitted() == ["slow.1"]


@pytest.mark.long
def test_two_applies_at_once(project: Project) -> None:
    """Whoever is first submits; the other fails with the lock, or sees that it came late."""
    for number in range(3):
        project.task(f"work-{number}")
    both = [project.start("apply", "--auto-approve") for _ in range(2)]
    done = [Output(one.wait(), *_read(one)) for one in both]
    assert 0 in {item.code for item in done}
    for item in done:
        assert item.code in (0, 1, 4), item.text
        if item.code == 1:
            assert "is locked by" in item.err
        if item.code == 4:
            assert "the saved plan no longer matches" in item.err
    project.apply()
    assert project.runs_submitted() == ["work-0.1", "work-1.1", "work-2.1"]


def _read(process: subprocess.Popen[str]) -> tuple[str, str]:
    out, err = process.communicate()
    return out, err


def test_interrupted_by_the_keyboard(project: Project) -> None:
    """Ctrl-C gives the lock back."""
    project.task("stopped")
    process = project.start("apply", "--auto-approve")
    assert process.stderr is not None
    for line in process.stderr:
        if "reserve run" in line:
            process.send_signal(signal.SIGINT)
            break
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, out + err
    assert "Traceback" not in err
    assert not (project.state / "lock").exists()
    project.apply()
    assert project.runs_submitted() == ["stopped.1"]


def test_connections_are_given_back(project: Project) -> None:
    project.task("one")
    project.apply()
    project.runs()
    before = _held()
    for _ in range(4):
        project.runs()
    threads, files = _held()
    assert threads <= before[0] + 1
    assert files <= before[1] + 2


def _held() -> tuple[int, int]:
    """Threads and open files of this process."""
    return threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))


def test_the_lock_is_private_to_the_set(project: Project) -> None:
    lock = project.state / "lock"
    project.task("one")
    project.apply()
    project.sh("mkdir", "-p", str(lock))
    project.sh("tee", str(lock / "holder"), input="bob@elsewhere pid 1 plan x\n")
    refused = project.triplane("apply", "--auto-approve")
    assert refused.code == 0  # nothing to do needs no lock
    project.task("two")
    refused = project.triplane("apply", "--auto-approve")
    assert (refused.code, "bob@elsewhere pid 1 plan x" in refused.err) == (1, True)
    assert project.triplane("status").code == 0
    assert stat.S_ISDIR(lock.stat().st_mode)
    assert project.triplane("unlock").out == "alpha: was held by bob@elsewhere pid 1 plan x\n"
    project.apply()
