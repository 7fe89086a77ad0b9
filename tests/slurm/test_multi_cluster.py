"""Two real clusters in one stack, which share a file system as clusters of one site do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.states import RunState
from tests.slurm.project import Project
from tests.slurm_site import SlurmSite

pytestmark = pytest.mark.slurm

H100S = {"accelerators": "H100:8", "cpus": 1, "memory": 1}
ON_ALPHA = {"infra": "slurm/alpha/cpu", "cpus": 1, "memory": 1}
ON_BETA = {"infra": "slurm/beta", "cpus": 1, "memory": 1}


@pytest.fixture
def both(new_project: Callable[..., Project]) -> Project:
    return new_project(clusters=("alpha", "beta"))


def test_infra_decides(both: Project) -> None:
    """Records of both lie in one folder, where a run of one is none of the other's."""
    both.task("here", "sleep 1000", resources=ON_ALPHA)
    both.task("there", "hostname; sleep 1000", resources=ON_BETA)
    both.apply("--wait", "running")
    assert both.runs_submitted("alpha") == ["here.1"]
    assert both.runs_submitted("beta") == ["there.1"]
    for _ in range(2):
        states = {work: (run.target, run.state) for (work, _), run in both.runs().items()}
        assert states == {
            "here": ("alpha", RunState.RUNNING),
            "there": ("beta", RunState.RUNNING),
        }
    assert "No changes (2 unchanged)." in both.apply().out
    done = both.triplane("cancel", "there")
    assert done.out == "there run 1 on beta cancelled\n"
    assert both.runs()["here", 1].state is RunState.RUNNING
    assert both.log("there").startswith("beta-")


def test_the_stacks_order_and_then_free_capacity(both: Project) -> None:
    both.task("anywhere", "sleep 1000", resources=H100S)
    planned = both.plan()["anywhere"]
    assert planned.target == "alpha"
    rows = {row.target: row for row in planned.placement}
    assert (rows["alpha"].chosen, rows["alpha"].free, rows["beta"].free) == (True, 16, 8)

    both.batch("--nodes=2", "--gres=gpu:h100:8", "--mem=1G", cluster="alpha")
    done = both.apply("--wait", "running")
    assert "placed on beta H100:8 (8 free): has room now, alpha has not" in done.out
    assert both.runs_submitted("alpha") == []
    assert both.runs_submitted("beta") == ["anywhere.1"]
    # A placement holds, also while its target is full.
    assert both.plan()["anywhere"].action is Action.NOOP


def test_a_cluster_that_is_away_does_not_block_the_other(
    slurm_site: SlurmSite, both: Project
) -> None:
    both.task("stays", "sleep 1000", resources=ON_BETA)
    both.task("goes", "sleep 1000", resources=ON_BETA)
    both.task("anywhere", "sleep 1000", resources=H100S)
    blocker = both.batch("--nodes=2", "--gres=gpu:h100:8", "--mem=1G", cluster="alpha")
    both.apply("--wait", "running")
    assert both.runs_submitted("beta") == ["anywhere.1", "goes.1", "stays.1"]
    both.sh("scancel", blocker)

    (both.folder / "tasks/goes.yaml").unlink()
    both.task("new", resources=ON_ALPHA)
    slurm_site.service("beta-login", "stop")
    try:
        planned = both.triplane("plan", "--format", "json")
        assert planned.code == 3
        plan = json.loads(planned.out)
        assert plan["complete"] is False
        assert plan["applyable"] is True
        changes = {change["work"]: change for change in plan["works"]}
        assert "goes" not in changes
        assert {work: change["action"] for work, change in changes.items()} == {
            "anywhere": "unknown",
            "new": "create",
            "stays": "unknown",
        }
        assert "refused" in changes["stays"]["reason"]  # the connection

        done = both.apply(code=3)
        assert re.search("beta .*asked: .*refused", done.out)
        assert "slurm/alpha/new run 1: created" in done.out
        assert both.runs_submitted("alpha") == ["new.1"]
        status = both.triplane("status")
        assert status.code == 3
        assert re.search("beta .*asked: .*refused", status.err)
        check = both.triplane("check", "--format", "json")
        assert check.code == 3
        assert {item["name"]: item["ok"] for item in check.json["targets"]} == {
            "alpha": True,
            "beta": False,
        }
    finally:
        slurm_site.service("beta-login", "start")

    # Nothing was moved, nothing was pruned; now it is seen what is to be done.
    assert both.runs_submitted("beta") == ["anywhere.1", "goes.1", "stays.1"]
    both.until("new")
    now = both.plan(replace_running=True)
    assert {work: change.action for work, change in now.items()} == {
        "anywhere": Action.NOOP,
        "goes": Action.DELETE,
        "new": Action.DONE,
        "stays": Action.NOOP,
    }
    assert both.apply("--replace-running").code == 0
    assert both.runs()["stays", 1].state is RunState.RUNNING


@pytest.mark.long
def test_work_moves_when_it_is_asked_to(both: Project) -> None:
    blocker = both.batch("--nodes=2", "--gres=gpu:h100:8", "--mem=1G", cluster="alpha")
    both.task("anywhere", "sleep 1000", resources=H100S)
    both.apply("--wait", "running")
    both.sh("scancel", blocker)
    both.site.wait_job("alpha", blocker)
    assert both.plan()["anywhere"].action is Action.NOOP
    refused = both.apply("--move", code=1)
    assert "moves from beta" in refused.err
    both.apply("--move", "--replace-running", "--wait", "running")
    assert both.runs_submitted("alpha") == ["anywhere.2"]
    states = {run: (seen.target, seen.state) for (_, run), seen in both.runs().items()}
    assert states[2] == ("alpha", RunState.RUNNING)
    assert both.sh("squeue", "-h", "-n", _name(both, "anywhere", 1), cluster="beta") == ""


def _name(project: Project, work: str, run: int) -> str:
    names = project.jobs("beta").values()
    return next(name for name in names if name.startswith(f"{project.name}.{work}.{run}."))


REFUSALS = {
    "partition": (
        {"resources": {"infra": "slurm/alpha/nosuch", "cpus": 1, "memory": 1}},
        "invalid partition specified: nosuch",
        "slurm-partition-refused",
        "resources.infra",
    ),
    "account": (
        {"config": {"slurm": {"quota": {"account": "teaching"}}}},
        "Invalid account or account/partition combination specified",
        "slurm-account-refused",
        "account",
    ),
    "nodes": (
        {"resources": {"infra": "slurm/alpha/gpu", "accelerators": "A100:8", "cpus": 1}},
        "Requested node configuration is not available",
        "slurm-nodes-refused",
        "accelerators",
    ),
}


@pytest.fixture(scope="module")
def refused(
    slurm_site: SlurmSite, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Project, str]]:
    project = Project(slurm_site, tmp_path_factory.mktemp("refused"), "refused")
    try:
        for work, (fields, *_) in REFUSALS.items():
            project.task(work, **fields)
        project.task("right")
        yield project, project.apply(code=1).text
    finally:
        project.clean()


@pytest.mark.parametrize("work", REFUSALS)
def test_refusals_are_in_slurms_words(refused: tuple[Project, str], work: str) -> None:
    _, said = refused
    _, words, code, _ = REFUSALS[work]
    assert words in said
    assert f"[{code}]" in said
    assert f"failed: slurm/alpha/{work}: alpha: " in said


def test_a_refused_job_does_not_stop_the_others(refused: tuple[Project, str]) -> None:
    project, said = refused
    assert "slurm/alpha/right run 1: created (" in said
    assert [work for work, _ in project.runs()] == ["right"]
    planned = {work: change.action for work, change in project.plan().items()}
    assert {work: action for work, action in planned.items() if work != "right"} == dict.fromkeys(
        REFUSALS, Action.CREATE
    )
