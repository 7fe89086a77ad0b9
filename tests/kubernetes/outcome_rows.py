"""Runs in every state of the outcome table, on a real cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from compiler.planning.states import RunState
from tests.kubernetes.project import Project

LONG = "sleep 1000"


@dataclass(frozen=True)
class Row:
    """How a run gets into its state: its text, and what is done to it by hand while it runs.

    `detail` is what status says; `task` are fields of the task; `starts` says that it must be
    running before something is done to it.
    """

    state: RunState
    detail: str = ""
    run: str = LONG
    by_hand: Callable[[Project, str], object] | None = None
    starts: bool = True
    exit_code: int | None = None
    task: Mapping[str, object] = field(default_factory=dict)


def _cancel(project: Project, work: str) -> None:
    done = project.triplane("cancel", work)
    assert done.code == 0, done.text


def _suspend(project: Project, work: str) -> None:
    project.patch_job(work, {"spec": {"suspend": True}})


def _deadline(project: Project, work: str) -> None:
    project.patch_job(work, {"spec": {"activeDeadlineSeconds": 1}})


def _expire(project: Project, work: str) -> None:
    """It ends and is removed at once, before anybody looks."""
    project.patch_job(work, {"spec": {"ttlSecondsAfterFinished": 0}})


def _pod_config(spec: object) -> Mapping[str, object]:
    return {"config": {"kubernetes": {"pod_config": {"spec": spec}}}}


_NO_IMAGE = {"containers": [{"name": "task", "image": "localhost/none:1"}]}

SUSPENDED = Row(RunState.PENDING, "suspended", by_hand=_suspend, starts=False)
UNREADY = Row(RunState.PENDING, "Image", starts=False, task=_pod_config(_NO_IMAGE))
RUNNING = Row(RunState.RUNNING)

PENDING_ROWS = {"suspended": SUSPENDED, "no-image": UNREADY}
ENDED_ROWS = {
    "succeeded": Row(RunState.SUCCEEDED, run="true", exit_code=0),
    "failed": Row(RunState.FAILED, "exit code 7", run="exit 7", exit_code=7),
    "cancelled": Row(RunState.CANCELLED, by_hand=_cancel),
    "cancelled-waiting": Row(
        RunState.CANCELLED, by_hand=_cancel, starts=False, task=_pod_config(_NO_IMAGE)
    ),
    "timed-out": Row(RunState.TIMED_OUT, by_hand=_deadline),
    "evicted": Row(RunState.FAILED, by_hand=Project.evict),
    "deleted": Row(RunState.VANISHED, by_hand=Project.delete_job),
    "expired": Row(RunState.SUCCEEDED, by_hand=_expire, run="sleep 4"),
}
UNSUCCESSFUL = tuple(
    name for name, row in ENDED_ROWS.items() if row.state is not RunState.SUCCEEDED
)


def write(project: Project, rows: Mapping[str, Row], extra: str = "") -> None:
    """The tasks of the rows; `extra` makes each of them another task."""
    for name, row in rows.items():
        project.task(name, run=row.run + extra, **row.task)


def bring(project: Project, rows: Mapping[str, Row]) -> None:
    """Apply the rows, do by hand what they say, and wait until all of them are there."""
    write(project, rows)
    project.apply()
    for name, row in rows.items():
        if row.starts and row.run != "true" and not row.run.startswith("exit"):
            _wait_for_start(project, name)
        if row.by_hand is not None:
            row.by_hand(project, name)
    for name, row in rows.items():
        project.until(name, row.state, seconds=90)


def _wait_for_start(project: Project, name: str) -> None:
    def started() -> bool:
        return any(pod["status"]["phase"] != "Pending" for pod in project.pods(name))

    project.api.until(f"{name} starts", started)
