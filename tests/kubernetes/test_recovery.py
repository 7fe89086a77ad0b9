"""Several ranks are one: what may recover starts again whole, under a real JobSet."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.states import RunState
from tests.kubernetes.project import V1, Project
from tests.kubernetes.recovery_runs import mark_of

pytestmark = pytest.mark.kubernetes

_JOBSET = "jobset.x-k8s.io/v1alpha2"


def _lines(mark: Path, name: str) -> list[str]:
    return (mark / name).read_text().splitlines()


def test_a_recoverable_code_starts_all_ranks_again_and_counts_once(recovery_runs: Project):
    project, mark = recovery_runs, mark_of(recovery_runs, "again")
    found = project.until("again", seconds=200)
    assert (found.state, found.detail) == (RunState.SUCCEEDED, "after 1 restart")
    name = f"{project.name}-again-1"
    jobset = project.api.get(_JOBSET, "JobSet", name, project.namespace)
    assert jobset["status"]["restarts"] == 1
    assert found.identity == jobset["metadata"]["uid"]
    task_id = f"triplane-{project.name}-again-1"
    for rank in range(3):
        assert _lines(mark, f"setup-{rank}") == [task_id, task_id]
        runs = [line.split() for line in _lines(mark, f"run-{rank}")]
        assert {words[0] for words in runs} == {task_id}
        assert len(runs) == 2
        # each time the addresses of the pods of then, the same for all ranks
        assert len(set(runs[-1][1:])) == 3
    assert {tuple(_lines(mark, f"run-{rank}")[-1].split()[1:]) for rank in range(3)} == {
        tuple(_lines(mark, "run-0")[-1].split()[1:])
    }
    logs = project.triplane("logs", "again", "--no-follow")
    assert sorted(logs.out.splitlines()) == [f"(rank {n}) rank {n} is done" for n in range(3)]
    assert project.plan()["again"].action is Action.DONE
    assert project.triplane("plan", "--detailed-exitcode").code == 0


def test_a_code_that_is_not_named_is_the_end(recovery_runs: Project):
    project, mark = recovery_runs, mark_of(recovery_runs, "once")
    found = project.until("once", seconds=200)
    assert (found.state, found.exit_code) == (RunState.FAILED, 7)
    assert len(_lines(mark, "setup-0")) == 1


def test_a_jobset_that_runs_is_cancelled_and_removed(recovery_runs: Project):
    project = recovery_runs
    project.until("long", RunState.RUNNING, seconds=120)
    assert project.triplane("cancel", "long").code == 0
    assert project.runs()[("long", 1)].state is RunState.CANCELLED
    name = f"{project.name}-long-1"
    assert project.api.find(_JOBSET, "JobSet", name, project.namespace) is None
    label = f"jobset.sigs.k8s.io/jobset-name={name}"
    assert project.api.items(V1, "Pod", project.namespace, label) == []
