"""Runs in every state of the outcome table, on a real cluster."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from compiler.planning.states import RunState
from compiler.workflow import RunStatus
from tests.slurm.project import Project

# The whole of partition gpu's A100 node: what asks for it waits behind whoever has it.
SCARCE: Mapping[str, object] = {
    "infra": "slurm/alpha/gpu",
    "accelerators": "A100:4",
    "cpus": 1,
    "memory": 1,
}
LONG = "sleep 1000"


@dataclass(frozen=True)
class Row:
    """How a run gets into its state: its text, and what is done to its job by hand.

    `waits` says that it asks for what another job has; else it is running before `by_hand`.
    """

    state: RunState
    detail: str
    run: str = LONG
    waits: bool = False
    by_hand: Callable[[Project, str], None] | None = None


def _scontrol(*words: str, user: str = "") -> Callable[[Project, str], None]:
    def act(project: Project, job: str) -> None:
        project.sh("scontrol", *(word.replace("JOB", job) for word in words), user=user)

    return act


def _scancel(project: Project, job: str) -> None:
    project.sh("scancel", job)


def _requeue(project: Project, job: str) -> None:
    """As after a failed node: back in the queue, and not to be started yet."""
    _requeue_hold(project, job, "requeue")
    project.sh("scontrol", "update", f"jobid={job}", "StartTime=now+1hour")


def _requeue_hold(project: Project, job: str, how: str = "requeuehold") -> None:
    project.sh("scontrol", "update", f"jobid={job}", "Requeue=1")
    project.sh("scontrol", how, job)


QUEUED = Row(RunState.PENDING, r"PENDING \((Resources|Priority)\)", waits=True)
HELD = Row(
    RunState.PENDING, r"PENDING \(JobHeldUser\)", waits=True, by_hand=_scontrol("hold", "JOB")
)
REQUEUED = Row(RunState.PENDING, r"PENDING \(BeginTime\)", by_hand=_requeue)
REQUEUE_HELD = Row(
    RunState.PENDING, r"(PENDING|REQUEUE_HOLD) \(.*[Hh]eld.*\)", by_hand=_requeue_hold
)
SUSPENDED = Row(RunState.PENDING, "SUSPENDED", by_hand=_scontrol("suspend", "JOB", user="root"))
RUNNING = Row(RunState.RUNNING, "RUNNING")
SUCCEEDED = Row(RunState.SUCCEEDED, "COMPLETED", run="true")
FAILED = Row(RunState.FAILED, "FAILED", run="exit 7")
CANCELLED_WAITING = Row(RunState.CANCELLED, "CANCELLED.*", waits=True, by_hand=_scancel)
CANCELLED_RUNNING = Row(RunState.CANCELLED, "CANCELLED.*", by_hand=_scancel)
TIMED_OUT = Row(
    RunState.TIMED_OUT, "TIMEOUT", by_hand=_scontrol("update", "jobid=JOB", "EndTime=now+1")
)

PENDING_ROWS: Mapping[str, Row] = {
    "queued": QUEUED,
    "held": HELD,
    "requeued": REQUEUED,
    "requeue-held": REQUEUE_HELD,
    "suspended": SUSPENDED,
}
ENDED_ROWS: Mapping[str, Row] = {
    "succeeded": SUCCEEDED,
    "failed": FAILED,
    "cancelled-waiting": CANCELLED_WAITING,
    "cancelled-running": CANCELLED_RUNNING,
    "timed-out": TIMED_OUT,
}


def write(project: Project, rows: Mapping[str, Row], *, minutes: int = 60, more: str = "") -> None:
    """A task a row; `more` is put behind its text."""
    for name, row in rows.items():
        fields: dict[str, object] = {
            "config": {"slurm": {"sbatch_options": {"time": str(minutes)}}}
        }
        if row.waits:
            fields["resources"] = dict(SCARCE)
        project.task(name, f"{row.run}{more}", **fields)


def bring_about(wanted: Mapping[Project, Mapping[str, Row]]) -> None:
    """Write and apply the tasks of each project, and return when all are in their states."""
    for project, rows in wanted.items():
        write(project, rows)
    # Slurm looks at time limits every 30 s: the others get where they belong meanwhile.
    slow = {"timed-out": TIMED_OUT}
    _in_parallel(wanted, "tasks/timed-out.yaml")
    for project in wanted:
        _by_hand(project, slow)
    _in_parallel(wanted)
    for project, rows in wanted.items():
        _by_hand(project, {name: row for name, row in rows.items() if name not in slow})
    for project, rows in wanted.items():
        project.until_all({name: _is_in_state(row) for name, row in rows.items()}, seconds=60)


def _in_parallel(projects: Iterable[Project], *paths: str) -> None:
    running = [project.start("apply", "--auto-approve", *paths) for project in projects]
    for process in running:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, out + err


def _by_hand(project: Project, rows: Mapping[str, Row]) -> None:
    """What is done to the jobs, once they are where that can be done."""

    def is_ready(name: str) -> Callable[[RunStatus], bool]:
        row = rows[name]
        started = project.run_folder(name) / "started"
        if row.waits or row.by_hand is None:
            return lambda _: True
        return lambda run: run.state is RunState.RUNNING and started.exists()

    seen = project.until_all({name: is_ready(name) for name in rows})
    for name, row in rows.items():
        identity = seen[name].identity
        if row.by_hand is not None and identity is not None:
            row.by_hand(project, identity)


def _is_in_state(row: Row) -> Callable[[RunStatus], bool]:
    return lambda run: (
        run.state is row.state
        and (not run.detail or re.fullmatch(row.detail, run.detail) is not None)
    )
