"""A real cluster that refuses, and a second one that takes the work: one job is left."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.states import RunState
from tests.slurm.project import Project

pytestmark = pytest.mark.slurm

# alpha knows no such account; on beta the stack says nothing of one.
NOBODY = {"slurm": {"cluster_configs": {"alpha": {"quota": {"account": "nobody"}}}}}
SMALL = {"infra": "slurm", "cpus": 1, "memory": 1}


@pytest.fixture
def both(new_project: Callable[..., Project]) -> Project:
    project = new_project(clusters=("alpha", "beta"), stack={"config": NOBODY})
    project.task("anywhere", "sleep 1000", resources=SMALL)
    return project


def test_the_second_cluster_takes_what_the_first_refuses(both: Project) -> None:
    planned = both.plan()["anywhere"]
    assert planned.target == "alpha"
    assert [(item.target, item.run) for item in planned.alternatives] == [("beta", 2)]
    done = both.apply("--wait", "running")
    assert "slurm/beta/anywhere run 2: created" in done.out
    assert "alpha: " in done.out  # and why not there
    assert both.runs_submitted("alpha") == []
    assert both.runs_submitted("beta") == ["anywhere.2"]
    live = {key: run.target for key, run in both.runs().items() if run.state.is_live}
    assert live == {("anywhere", 2): "beta"}
    again = both.plan()["anywhere"]
    assert (again.target, again.action, again.state) == ("beta", Action.NOOP, RunState.RUNNING)
    assert "No changes (1 unchanged)." in both.apply().out
    assert both.runs_submitted("beta") == ["anywhere.2"]


def test_a_saved_plan_again_submits_nothing(both: Project) -> None:
    assert both.triplane("plan", "--out", "plan.json").code == 0
    for said in ("slurm/beta/anywhere run 2: created", "done by an earlier apply"):
        done = both.triplane("apply", "plan.json", stack=False)
        assert done.code == 0, done.text
        assert said in done.out
        assert both.runs_submitted("alpha") == []
        assert both.runs_submitted("beta") == ["anywhere.2"]
