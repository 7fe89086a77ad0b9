"""Applies that are killed at any moment: the next one completes what was begun, nothing twice."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time

import pytest

from compiler.workflow import unlock
from tests.aws.site import TOP, AwsSite, Set

TASK = "name: {name}\nnum_nodes: 2\nresources: {{infra: aws, cpus: 8}}\nrun: echo hi\n"
# Seconds within which the apply below is at work, on a machine that does nothing else.
_BUSY = 12
MOMENTS = [random.Random(number).uniform(0.5, _BUSY) for number in range(54)]


def killed_after(aws: AwsSite, lab: Set, seconds: float) -> bool:
    """Start an apply and kill it, the engine and the provider with it; whether it was at work."""
    program = "from compiler.cli.main import entry; entry()"
    process = subprocess.Popen(
        [sys.executable, "-c", program, "apply", "--auto-approve", "--stack", str(lab.stack_file)],
        env={**os.environ, "PYTHONPATH": str(TOP)},
        cwd=lab.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    was_at_work = process.poll() is None
    if was_at_work:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    return was_at_work


def check(aws: AwsSite, lab: Set) -> None:
    """What must hold after one apply more."""
    unlock(lab.stack())
    applied = lab.apply()
    assert applied.exit_code == 0, [str(item.error) for item in applied.failed]
    assert not lab.plan().plan.has_changes
    # The run that was replaced has gone, whichever number the new one has by now.
    assert len(aws.instances("pending", "running")) == 4
    live = [run for run, state in lab.status().items() if state == "pending"]
    assert sorted(run.partition(".")[0] for run in live) == ["new", "train"]
    latest = aws.pulumi_state()["checkpoint"]["latest"]
    assert not latest.get("pending_operations")


def prepared(lab: Set) -> None:
    """A set in which one run is there; its task changes, and another is new."""
    lab.task("train", TASK.format(name="train"))
    assert lab.apply().exit_code == 0
    lab.task("train", TASK.format(name="train").replace("echo hi", "echo other"))
    lab.task("new", TASK.format(name="new"))


@pytest.mark.parametrize("moment", MOMENTS[:4], ids=range(4))
def test_an_apply_killed_at_a_moment_is_completed_by_the_next(
    aws: AwsSite, lab: Set, moment: float
) -> None:
    prepared(lab)
    killed_after(aws, lab, moment)
    check(aws, lab)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("moment", MOMENTS[4:], ids=range(4, len(MOMENTS)))
def test_an_apply_killed_at_any_moment_is_completed_by_the_next(
    aws: AwsSite, lab: Set, moment: float
) -> None:
    prepared(lab)
    killed_after(aws, lab, moment)
    check(aws, lab)
