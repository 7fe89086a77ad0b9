"""One task, four targets: the first is full, the second refuses, and exactly one run is left."""

from __future__ import annotations

import re

import pytest

from compiler.planning.outcomes import Action
from compiler.workflow import planner
from tests.aws.site import REGION, AwsSite
from tests.kubernetes.project import Project as Namespace
from tests.slurm.project import Project

pytestmark = [pytest.mark.slurm, pytest.mark.kubernetes]


@pytest.fixture
def full(everywhere: Project) -> Project:
    """The project with a task for any target; all nodes of alpha are taken."""
    nodes = everywhere.sh("sinfo", "-h", "-p", "cpu", "-o", "%D").strip()
    everywhere.batch("--partition=cpu", "--exclusive", f"--nodes={nodes}")
    everywhere.task("anywhere", "sleep 1000", resources={"cpus": "1+", "memory": "1+"})
    return everywhere


def live(project: Project) -> list[tuple[str, str, int]]:
    """(target, work, run) of all live runs of the set's works."""
    return sorted(
        (run.target, run.work, run.run) for run in project.runs().values() if run.state.is_live
    )


def queued(project: Project) -> list[str]:
    """The set's jobs in the queue of either cluster."""
    rows = [
        name
        for cluster in project.clusters
        for name in project.sh("squeue", "-h", "-o", "%j", cluster=cluster).split()
    ]
    return [name for name in rows if name.startswith(f"{project.name}.")]


def test_kubernetes_takes_what_one_cluster_has_no_room_for_and_the_other_refuses(
    full: Project, namespace: Namespace, aws: AwsSite
) -> None:
    planned = full.plan()["anywhere"]
    assert planned.target == "alpha"
    found = [(item.target, item.run) for item in planned.alternatives]
    assert found == [("beta", 2), ("prod", 3), (REGION, 4)]
    done = full.apply()
    assert "kubernetes/prod/anywhere run 3: created" in done.out
    assert "alpha: run 1 did not start within 2 s" in done.out
    assert "beta: " in done.out
    assert live(full) == [("prod", "anywhere", 3)]
    assert queued(full) == []
    job = f"{full.name}-anywhere-3"
    assert namespace.api.find("batch/v1", "Job", job, namespace.namespace) is not None
    assert aws.instances("pending", "running") == []
    again = full.plan()["anywhere"]
    assert (again.target, again.action) == ("prod", Action.NOOP)
    full.apply()
    assert live(full) == [("prod", "anywhere", 3)]
    assert full.runs_submitted("alpha") == ["anywhere.1"]
    assert full.runs_submitted("beta") == []


def test_with_kubernetes_away_aws_takes_it(
    full: Project, namespace: Namespace, aws: AwsSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = planner.look
    before = namespace.kubeconfig.read_text()

    def look_and_lose(*words, **more):
        """Nobody listens on the discard port: the cluster is away from here on."""
        world = look(*words, **more)
        nowhere = re.sub(r"https://[^\s]+", "https://127.0.0.1:9", before)
        namespace.kubeconfig.write_text(nowhere)
        return world

    monkeypatch.setattr(planner, "look", look_and_lose)
    done = full.apply()
    assert f"aws/{REGION}/anywhere run 4: created" in done.out, done.text
    assert "prod" in done.out
    monkeypatch.setattr(planner, "look", look)
    namespace.kubeconfig.write_text(before)
    assert live(full) == [(REGION, "anywhere", 4)]
    assert queued(full) == []
    assert namespace.api.items("batch/v1", "Job", namespace.namespace) == []
    assert len(aws.instances("pending", "running")) == 1
    full.apply()
    assert live(full) == [(REGION, "anywhere", 4)]
    assert len(aws.instances("pending", "running")) == 1
