"""Applies that are killed at any of their writes: the next one completes what was begun.

One apply creates a work with a secret, replaces a waiting one, and removes one that left the
set with its secret. Where it is killed comes from a seed, so that each run of the
tests tries the same points; the long mode tries all of them.
"""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from compiler.planning.states import RunState
from tests.kubernetes.project import V1, Maker, Project

pytestmark = pytest.mark.kubernetes

# Writing requests of the apply below; one more would not be reached.
WRITES = 35
POINTS = [(number, when) for number in range(1, WRITES + 1) for when in ("before", "after")]
SEEDED = random.Random(4).sample(POINTS, 5)
_NOWHERE = {"spec": {"nodeSelector": {"none": "such"}}}
_WAITS = {"config": {"kubernetes": {"pod_config": _NOWHERE}}}


def _prepared(project: Project) -> None:
    """The set before the apply: one work waits, one has ended; and its files after."""
    project.task("waits", **_WAITS)
    gone = project.task("gone", secrets={"TOKEN": "abc"})
    project.apply()
    project.until("gone")
    project.task("waits", run="echo other", **_WAITS)
    project.task("new", secrets={"TOKEN": "abc"})
    gone.unlink()


def _killed(project: Project, number: int, when: str) -> bool:
    """Whether the apply came as far as that."""
    words = ["-m", "tests.kubernetes.killer", str(number), when]
    done = subprocess.run(
        [sys.executable, *words, "apply", "--auto-approve", "--stack", "stack.yaml"],
        cwd=project.folder,
        env=project.environment,
        capture_output=True,
        text=True,
        timeout=200,
    )
    assert done.returncode in (0, -9), done.stdout + done.stderr
    return done.returncode == -9


def _check(project: Project) -> None:
    """What must hold after one apply more."""
    project.triplane("unlock")
    project.apply()
    project.until("new", RunState.SUCCEEDED, run=_last(project, "new"))
    again = project.triplane("plan", "--detailed-exitcode")
    assert again.code == 0, again.text
    live = [work for (work, _), found in project.runs().items() if found.state.is_live]
    assert live == ["waits"]
    jobs = [name.rpartition("-")[0] for name in project.jobs()]
    assert sorted(jobs) == ["new", "waits"]
    kept = project.api.items(V1, "Secret", project.namespace)
    assert [item["metadata"]["name"] for item in kept] == [f"{project.name}-new-secrets"]
    scripts = {
        item["metadata"]["name"].removesuffix("-scripts").removeprefix(f"{project.name}-")
        for item in project.api.items(V1, "ConfigMap", project.namespace)
        if item["metadata"]["name"].endswith("-scripts")
    }
    assert scripts == project.jobs()


def _last(project: Project, work: str) -> int:
    return max(run for name, run in project.runs() if name == work)


@pytest.mark.parametrize(("number", "when"), SEEDED)
def test_an_apply_killed_anywhere_is_completed_by_the_next(
    new_project: Maker, number: int, when: str
):
    project = new_project()
    _prepared(project)
    _killed(project, number, when)
    _check(project)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_an_apply_killed_at_every_write_is_completed_by_the_next(new_project: Maker):
    reached = 0
    for number, when in POINTS:
        project = new_project()
        _prepared(project)
        reached += _killed(project, number, when)
        _check(project)
        project.clean()
    assert 40 <= reached < len(POINTS)
