"""Rows of the outcome table in which something was lost: records, the accounting, the job.

Nothing is ever submitted again because it was forgotten.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.plan import WorkChange
from compiler.planning.states import RunState
from compiler.workflow import RunStatus
from tests.slurm.outcome_rows import LONG, SCARCE
from tests.slurm.project import Project
from tests.slurm_site import SlurmSite

pytestmark = pytest.mark.slurm

STATES = {
    "waits": RunState.PENDING,
    "runs": RunState.RUNNING,
    "succeeds": RunState.SUCCEEDED,
    "fails": RunState.FAILED,
}


# --- with accounting


@pytest.fixture
def four(project: Project) -> Project:
    """A run that waits, one that runs, one that succeeded, one that failed."""
    project.batch("--gres=gpu:a100:4", "--partition=gpu", "--cpus-per-task=1", "--mem=1G")
    project.task("waits", resources=dict(SCARCE))
    project.task("runs", LONG)
    project.task("succeeds", "true")
    project.task("fails", "exit 5")
    project.apply()
    await_states(project, STATES)
    return project


def await_states(project: Project, states: dict[str, RunState]) -> None:
    project.until_all(
        {
            work: lambda run, state=state: run.state is state  # type: ignore[misc]
            for work, state in states.items()
        }
    )


def actions(planned: dict[str, WorkChange]) -> dict[str, Action]:
    return {work: change.action for work, change in planned.items()}


KEPT = {
    "waits": Action.NOOP,
    "runs": Action.NOOP,
    "succeeds": Action.DONE,
    "fails": Action.SHOWN,
}


def test_what_was_deleted_by_hand_is_not_started_again(four: Project) -> None:
    before = {work: four.record(work) for work in STATES}
    jobs = four.jobs()
    shutil.rmtree(four.state / "records")
    four.apply()
    assert {work: run.state for (work, _), run in four.runs().items()} == STATES
    assert {work: four.record(work) for work in STATES} == before
    assert four.jobs() == jobs

    # Without any file the jobs' names hold the work, the run and the beginning of the digest.
    four.sh("rm", "-rf", str(four.state))
    assert {work: run.state for (work, _), run in four.runs().items()} == STATES
    assert actions(four.plan()) == KEPT
    four.apply()
    assert four.jobs() == jobs
    rerun = four.plan(rerun=True)
    assert actions(rerun) == {**KEPT, "fails": Action.CREATE}
    for work in STATES:
        four.task(work, "exit 0; : another")
    new = four.plan()
    assert actions(new) == {
        "waits": Action.REPLACE,
        "runs": Action.REFUSED,
        "succeeds": Action.CREATE,
        "fails": Action.CREATE,
    }
    assert {work: change.run for work, change in new.items() if work != "runs"} == {
        "waits": 2,
        "succeeds": 2,
        "fails": 2,
    }


# --- without accounting, and the controller has lost its jobs


LOST = {
    # It ended without a word: its batch script was killed with everything in it.
    "vanishes": (RunState.VANISHED, "started, and nobody knows how it ended", Action.SHOWN),
    "record-lost": (RunState.UNKNOWN, "its record is lost", Action.UNKNOWN),
    "succeeds": (RunState.SUCCEEDED, "", Action.DONE),
    "fails": (RunState.FAILED, "", Action.SHOWN),
    "never-starts": (RunState.CANCELLED, "left the queue before it started", Action.SHOWN),
}
_DIE = 'pkill -KILL -f "/job0*$SLURM_JOB_ID/slurm_script"; sleep 1000'


@dataclass(frozen=True)
class Forgotten:
    """What was seen and done after the controller had lost all jobs."""

    runs: dict[tuple[str, int], RunStatus]
    waited: int
    same: dict[str, WorkChange]
    rerun: dict[str, WorkChange]
    new: dict[str, WorkChange]
    new_with_rerun: dict[str, WorkChange]
    jobs_after_apply: dict[str, str]
    jobs_after_rerun: list[str]
    afterwards: dict[tuple[str, int], RunStatus]


@pytest.fixture(scope="module")
def forgotten(
    slurm_site_no_accounting: SlurmSite, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Forgotten]:
    site = slurm_site_no_accounting
    project = Project(site, tmp_path_factory.mktemp("forgotten"), "forgotten")
    texts = {"vanishes": _DIE, "record-lost": "true", "succeeds": "true", "fails": "exit 6"}

    def write(more: str = "") -> None:
        for work, text in texts.items():
            project.task(work, text + more)
        held = {"slurm": {"sbatch_options": {"hold": True}}}
        project.task("never-starts", f"true{more}", config=held)

    try:
        lose_all_jobs(site)  # job numbers start at 1, and will again
        write()
        project.apply()
        by_work = {name.split(".")[1]: job for job, name in project.jobs().items()}
        for work in texts:
            site.wait_job("alpha", by_work[work])
        lose_all_jobs(site)
        (project.state / "records/record-lost.1.json").unlink()

        runs, waited = project.runs(), project.triplane("wait", "record-lost").code
        same, rerun = project.plan(), project.plan(rerun=True)
        write("\n: another")
        new, new_with_rerun = project.plan(), project.plan(rerun=True)
        write()
        project.apply()
        jobs = project.jobs()
        project.apply("--rerun")
        yield Forgotten(
            runs,
            waited,
            same,
            rerun,
            new,
            new_with_rerun,
            jobs,
            project.runs_submitted(),
            project.runs(),
        )
    finally:
        project.clean()
        site.reset()


def lose_all_jobs(site: SlurmSite) -> None:
    """As if the controller's state had been lost with its disk."""
    site.service("alpha-ctl", "stop")
    for file in (site.state / "alpha/state").glob("job_state*"):
        file.unlink()
    site.service("alpha-ctl", "start")
    site.wait_for(
        lambda: site.run("alpha", "root", ["sinfo", "-h", "-t", "idle", "-o", "%D"]).stdout.strip(),
        30,
        "the nodes to be idle",
    )


@pytest.mark.parametrize("work", LOST)
def test_state_without_accounting(forgotten: Forgotten, work: str) -> None:
    state, detail, action = LOST[work]
    assert (forgotten.runs[work, 1].state, forgotten.runs[work, 1].detail) == (state, detail)
    assert forgotten.runs[work, 1].exit_code == {"succeeds": 0, "fails": 6}.get(work)
    change = forgotten.same[work]
    assert (change.action, change.run) == (action, 1)
    assert (
        change.reason
        == {
            "vanishes": "run 1 vanished; again only with --rerun",
            "record-lost": "what became of run 1 is not known (its record is lost); needs --rerun",
            "succeeds": "run 1 succeeded",
            "fails": "run 1 failed with exit code 6; again only with --rerun",
            "never-starts": "run 1 cancelled; again only with --rerun",
        }[work]
    )


def test_nobody_waits_for_what_is_not_known(forgotten: Forgotten) -> None:
    assert forgotten.waited == 102


def test_nothing_is_submitted_by_itself(forgotten: Forgotten) -> None:
    assert forgotten.jobs_after_apply == {}


@pytest.mark.parametrize("work", LOST)
def test_rerun_starts_what_did_not_succeed(forgotten: Forgotten, work: str) -> None:
    change = forgotten.rerun[work]
    if work == "succeeds":
        assert change.action is Action.DONE
        return
    assert (change.action, change.run) == (Action.CREATE, 2)
    assert "asked for by --rerun" in change.reason
    assert forgotten.afterwards[work, 2].identity is not None


def test_rerun_submits_each_once(forgotten: Forgotten) -> None:
    again = [work for work in LOST if work != "succeeds"]
    assert forgotten.jobs_after_rerun == sorted(f"{work}.2" for work in again)


@pytest.mark.parametrize("work", LOST)
def test_new_digest_without_accounting(forgotten: Forgotten, work: str) -> None:
    if work == "record-lost":
        assert forgotten.new[work].action is Action.UNKNOWN
        assert forgotten.new[work].reason.endswith("; needs --rerun")
    else:
        assert (forgotten.new[work].action, forgotten.new[work].run) == (Action.CREATE, 2)
    rerun = forgotten.new_with_rerun[work]
    assert (rerun.action, rerun.run) == (Action.CREATE, 2)


def test_a_job_of_the_same_number_is_another(forgotten: Forgotten) -> None:
    """The controller starts to count anew: a record's number may be a later job's."""
    numbers = {
        run.identity for (_, run_number), run in forgotten.afterwards.items() if run_number == 2
    }
    assert numbers & {run.identity for run in forgotten.runs.values()}
    states = {work: forgotten.afterwards[work, 1].state for work in LOST}
    assert states == {work: state for work, (state, _, _) in LOST.items()}


def test_a_record_is_found_by_its_job_without_accounting(
    slurm_site_no_accounting: SlurmSite, new_project
) -> None:
    project = new_project(slurm_site_no_accounting)
    project.task("succeeds")
    project.task("fails", "exit 4")
    project.apply()
    await_states(project, {"succeeds": RunState.SUCCEEDED, "fails": RunState.FAILED})
    jobs = project.jobs()
    project.sh("rm", "-rf", str(project.state))
    assert actions(project.plan()) == {"succeeds": Action.DONE, "fails": Action.SHOWN}
    assert (
        project.plan()["fails"].reason == "run 1 failed with exit code 4; again only with --rerun"
    )
    project.apply()
    assert project.jobs() == jobs
