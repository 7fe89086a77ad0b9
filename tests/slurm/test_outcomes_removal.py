"""What leaves the set, and runs that are added by hand, on the real cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.plan import WorkChange
from compiler.planning.states import RunState
from compiler.workflow import RunStatus
from tests.command_line import Output
from tests.slurm.outcome_rows import LONG, SCARCE
from tests.slurm.project import Project, columns
from tests.slurm_site import SlurmSite

pytestmark = pytest.mark.slurm


@dataclass(frozen=True)
class Removal:
    """A set that lost all works but one, applied without and with --replace-running."""

    project: Project
    planned: dict[str, WorkChange]
    by_path: dict[str, WorkChange]
    first: Output
    between: dict[tuple[str, int], RunStatus]
    second: Output
    afterwards: dict[str, WorkChange]


WORKS = {
    "waits": RunState.PENDING,
    "suspended": RunState.PENDING,
    "runs": RunState.RUNNING,
    "succeeded": RunState.SUCCEEDED,
    "failed": RunState.FAILED,
    "stays": RunState.RUNNING,
}


@pytest.fixture(scope="module")
def removal(slurm_site: SlurmSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Removal]:
    project = Project(slurm_site, tmp_path_factory.mktemp("removal"), "removal")
    try:
        project.batch("--gres=gpu:a100:4", "--partition=gpu", "--cpus-per-task=1", "--mem=1G")
        project.task("waits", resources=dict(SCARCE))
        project.task("succeeded", "echo done")
        project.task("failed", "exit 2")
        for work in ("suspended", "runs", "stays"):
            project.task(work, LONG)
        project.apply()
        suspended = project.until("suspended", RunState.RUNNING)
        project.sh("scontrol", "suspend", str(suspended.identity), user="root")
        project.until_all(
            {
                work: lambda run, state=state: run.state is state  # type: ignore[misc]
                for work, state in WORKS.items()
            }
        )
        for work in WORKS:
            if work != "stays":
                (project.folder / f"tasks/{work}.yaml").unlink()
        planned, by_path = project.plan(), project.plan("tasks/stays.yaml")
        first = project.apply(code=1)
        between = project.runs()
        second = project.apply("--replace-running")
        yield Removal(project, planned, by_path, first, between, second, project.plan())
    finally:
        project.clean()


@pytest.mark.parametrize(
    ("work", "action", "reason"),
    [
        ("waits", Action.DELETE, "no longer in the set; its pending run is cancelled"),
        ("suspended", Action.DELETE, "no longer in the set; its pending run is cancelled"),
        (
            "runs",
            Action.REFUSED,
            "no longer in the set, but run 1 is running; needs --replace-running",
        ),
        ("succeeded", Action.DELETE, "no longer in the set; run 1 succeeded, its record stays"),
        (
            "failed",
            Action.DELETE,
            "no longer in the set; run 1 failed with exit code 2, its record stays",
        ),
        ("stays", Action.NOOP, "running (RUNNING)"),
    ],
)
def test_what_is_planned(removal: Removal, work: str, action: Action, reason: str) -> None:
    change = removal.planned[work]
    assert (change.action, change.reason) == (action, reason)


def test_running_work_is_not_touched_without_the_flag(removal: Removal) -> None:
    assert "refused: slurm/alpha/runs: no longer in the set" in removal.first.err
    assert removal.between["runs", 1].state is RunState.RUNNING
    assert removal.between["stays", 1].state is RunState.RUNNING


@pytest.mark.parametrize("work", [work for work in WORKS if work != "stays"])
def test_objects_go_and_the_record_stays(removal: Removal, work: str) -> None:
    project = removal.project
    assert not project.run_folder(work).exists()
    assert not (project.state / f"work/{work}.1").exists()
    record = project.record(work)
    assert (record["stage"], record["outcome"]) == ("ended", "removed")
    (identity,) = [job for job, name in project.jobs().items() if f".{work}.1." in name]
    assert record["identity"] == identity
    state = project.sh("squeue", "-h", "-t", "all", "-j", identity, "-o", "%T").strip()
    ended = {"succeeded": "COMPLETED", "failed": "FAILED"}.get(work, "CANCELLED")
    assert state == ended
    line = f"slurm/alpha/{work} run 1: deleted"
    assert line in (removal.second if work == "runs" else removal.first).out


def test_the_next_plan_is_quiet(removal: Removal) -> None:
    assert {work: change.action for work, change in removal.afterwards.items()} == {
        "stays": Action.NOOP
    }
    assert [work for work, _ in removal.project.runs()] == ["stays"]


def test_a_number_is_never_given_out_again(removal: Removal) -> None:
    project = removal.project
    path = project.task("succeeded", "echo done")
    change = project.plan()["succeeded"]
    assert (change.action, change.run) == (Action.CREATE, 2)
    path.unlink()


def test_paths_prune_nothing(removal: Removal) -> None:
    assert {work: change.action for work, change in removal.by_path.items()} == {
        "stays": Action.NOOP
    }


def test_destroy(project: Project) -> None:
    project.task("ended")
    project.task("live", LONG)
    project.apply()
    project.until_all(
        {
            "ended": lambda run: run.state is RunState.SUCCEEDED,
            "live": lambda run: run.state is RunState.RUNNING,
        }
    )
    done = project.triplane("destroy", "--auto-approve")
    assert done.code == 0, done.text
    assert project.name not in project.sh("squeue", "-h", "-u", "alice", "-o", "%j")
    assert project.record("live")["outcome"] == "removed"
    again = project.triplane("destroy", "--auto-approve")
    assert again.code == 0
    assert "No changes" in again.out


def test_runs_added_by_hand(project: Project) -> None:
    """`triplane run` adds numbered runs, several at once as an array; an apply neither replaces
    nor prunes them."""
    path = project.task("sweep", "echo rank ${SKYPILOT_JOB_RANK-none} of ${SKYPILOT_NUM_JOBS-none}")
    project.apply()
    done = project.triplane("run", "tasks/sweep.yaml", "--num-jobs", 3)
    assert done.code == 0, done.text
    assert set(project.runs_submitted()) == {"sweep.1", "sweep.2"}
    project.until_all({"sweep": lambda run: not run.state.is_live}, run=2)
    project.until_all({"sweep": lambda run: not run.state.is_live}, run=1)
    assert project.log("sweep", run=1) == "rank none of none\n"
    members = project.run_folder("sweep", 2)
    logs = [(members / f"{rank}/logs/0.log").read_text() for rank in range(3)]
    assert logs == [f"rank {rank} of 3\n" for rank in range(3)]
    rows = columns(project.triplane("status", "sweep").out)
    assert [row[1] for row in rows] == ["1", "2+"]

    before = project.jobs()
    assert "No changes (1 done)." in project.apply().out
    assert project.jobs() == before
    project.task("sweep", "echo another")
    assert project.plan()["sweep"].run == 3
    path.unlink()
    project.task("other")
    project.apply()
    assert [key for key in project.runs() if key[0] == "sweep"] == [("sweep", 2)]
    assert members.exists()


def test_runs_of_work_that_was_never_applied(project: Project) -> None:
    """Commands mean the last of them where no run was declared."""
    project.task("once", LONG)
    assert project.triplane("run", "tasks/once.yaml").code == 0
    done = project.triplane("cancel", "once")
    assert (done.code, done.out) == (0, "once run 1 on alpha cancelled\n")
    assert project.triplane("wait", "once", "--timeout", 30).code == 103

    project.task("once", "echo $SKYPILOT_TASK_ID; exit 3")
    assert project.triplane("run", "tasks/once.yaml").code == 0
    assert project.triplane("wait", "once", "--timeout", 60).code == 100
    logs = project.triplane("logs", "once").out.splitlines()
    assert logs[-1] == f"triplane-{project.name}-once-2"
    # A declared run is one more: those made by hand are none of the set's.
    change = project.plan()["once"]
    assert (change.action, change.run) == (Action.CREATE, 3)
