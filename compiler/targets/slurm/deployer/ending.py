"""Ending a job, and being sure that it is gone."""

from __future__ import annotations

import dataclasses
import time

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, RunState
from compiler.targets.interface import Progress
from compiler.targets.slurm.deployer import observe
from compiler.targets.slurm.deployer.remote import Remote, encoded
from compiler.targets.slurm.deployer.snapshot import text_digest
from compiler.targets.slurm.deployer.vocabulary import is_end

# KillWait is 30 s by default, and an epilog may take its time.
GONE_WITHIN_SECONDS = 180


def end_job(remote: Remote, job_id: str, *, only_pending: bool, progress: Progress) -> None:
    """Cancel a job and return when the controller says that it has ended.

    With `only_pending`, raise PlanOutdated if it has started (and leave it alone).
    """
    mode = "pending" if only_pending else "any"
    progress(f"cancel job {job_id}")
    deadline = time.monotonic() + GONE_WITHIN_SECONDS
    while True:
        state = remote.call("cancel", job_id, mode).first("state") or ""
        if not state or is_end(state):
            return
        if only_pending and state not in ("PENDING", "SUSPENDED", "COMPLETING"):
            raise PlanOutdated([f"{remote.target}: job {job_id} is {state}, it was pending"])
        if time.monotonic() > deadline:
            raise WorkFailed(
                f"{remote.target}: job {job_id} is still {state} "
                f"{GONE_WITHIN_SECONDS} s after it was cancelled; try again when it is gone"
            )
        progress(f"job {job_id} is still {state}")


def end_run(
    remote: Remote, run_key: str, *, accounting: bool, only_pending: bool, progress: Progress
) -> observe.Seen | None:
    """End the job of a run, whatever it is doing, and write down how it ended.

    Returns the run as it then is, None if nothing is known of it.
    """
    seen = _one(remote, run_key, accounting)
    if seen is None or not seen.verdict.state.is_live:
        return seen
    if seen.record.identity is not None:
        end_job(remote, seen.record.identity, only_pending=only_pending, progress=progress)
    seen = _one(remote, run_key, accounting)
    if seen is not None and seen.verdict.state.is_live:
        # Only the accounting still has it as live: the queue is what counts.
        verdict = dataclasses.replace(seen.verdict, state=RunState.CANCELLED, final=True)
        seen = dataclasses.replace(seen, verdict=verdict)
    return seen


def remove_run(remote: Remote, record: Record, written: str | None) -> Record:
    """Remove the files of a run that has ended; its record stays and keeps its number taken."""
    gone = dataclasses.replace(record, stage=Stage.ENDED, outcome=REMOVED, files={})
    write(remote, gone, written, before=f"folder|{record.run_key}\n")
    return gone


def write(remote: Remote, record: Record, written: str | None, before: str = "") -> None:
    """Replace the record that was read as `written`; PlanOutdated if it is another by now."""
    old = text_digest(written) if written is not None else "-"
    line = f"record|{record.run_key}|{old}|{encoded(record.to_json().encode())}\n"
    answer = remote.call_in_set("settle", data=(before + line).encode())
    if answer.first("moved") is not None:
        raise PlanOutdated([f"{remote.target}: the record of {record.run_key} was changed"])


def _one(remote: Remote, run_key: str, accounting: bool) -> observe.Seen | None:
    snapshot, seen = observe.take(remote, artifacts=False, accounting=accounting, only=run_key)
    observe.settle(remote, snapshot, seen)
    return seen[0] if seen else None
