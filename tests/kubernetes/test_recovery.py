"""Several ranks are one: what may recover starts again whole, under a real JobSet."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.states import RunState
from tests.kubernetes.project import Maker, Project

pytestmark = pytest.mark.kubernetes

_JOBSET = "jobset.x-k8s.io/v1alpha2"
# The folder /mark lies on the node and outlives pods: a line each time that something is done.
_SETUP = 'echo "$SKYPILOT_TASK_ID" >>"/mark/setup-$SKYPILOT_SETUP_NODE_RANK"'
_RUN = """\
echo "$SKYPILOT_TASK_ID $(echo $SKYPILOT_NODE_IPS)" >>"/mark/run-$SKYPILOT_NODE_RANK"
if [ "$(wc -l <"/mark/run-$SKYPILOT_NODE_RANK")" -le "$FAILURES" ]; then
    [ "$SKYPILOT_NODE_RANK" = 1 ] || sleep 600
    sleep 1
    exit "$CODE"
fi
echo "rank $SKYPILOT_NODE_RANK is done"
"""
_RECOVERY = {"strategy": "FAILOVER", "max_restarts_on_errors": 0, "recover_on_exit_codes": [33]}


def _task(project: Project, name: str, *, failures: int, code: int, restarts: int = 0) -> Path:
    """A task of three ranks whose second fails the first times; returns the folder /mark."""
    mark = project.folder / f"mark-{name}"
    mark.mkdir()
    pod = {
        "containers": [{"name": "task", "volumeMounts": [{"name": "mark", "mountPath": "/mark"}]}],
        "volumes": [{"name": "mark", "hostPath": {"path": str(mark)}}],
    }
    recovery = {**_RECOVERY, "max_restarts_on_errors": restarts}
    project.task(
        name,
        _RUN,
        setup=_SETUP,
        num_nodes=3,
        envs={"FAILURES": str(failures), "CODE": str(code)},
        resources={"cpus": 1, "memory": 1, "job_recovery": recovery},
        config={"kubernetes": {"pod_config": {"spec": pod}}},
    )
    return mark


@pytest.fixture
def project(new_project: Maker) -> Project:
    return new_project(real=True, target={"jobset": "0.12"})


def _lines(mark: Path, name: str) -> list[str]:
    return (mark / name).read_text().splitlines()


def test_a_recoverable_code_starts_all_ranks_again_and_counts_once(project: Project):
    mark = _task(project, "again", failures=1, code=33, restarts=2)
    project.apply()
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


def test_a_code_that_is_not_named_is_the_end(project: Project):
    mark = _task(project, "once", failures=9, code=7)
    project.apply()
    found = project.until("once", seconds=200)
    assert (found.state, found.exit_code) == (RunState.FAILED, 7)
    assert len(_lines(mark, "setup-0")) == 1


def test_a_jobset_that_waits_is_cancelled_and_removed(project: Project):
    _task(project, "long", failures=9, code=33, restarts=1)
    project.apply()
    project.until("long", RunState.RUNNING, seconds=120)
    assert project.triplane("cancel", "long").code == 0
    assert project.runs()[("long", 1)].state is RunState.CANCELLED
    assert project.api.items(_JOBSET, "JobSet", project.namespace) == []
    assert project.pods_of_set() == []
