"""Stopping a task in a container, and starting it again with the file systems that it had."""

from __future__ import annotations

import dataclasses

from compiler.diagnostics import WorkFailed
from compiler.planning.records import Record, Stage
from compiler.targets.interface import Progress
from compiler.targets.slurm.deployer import ending, observe, records
from compiler.targets.slurm.deployer.remote import Remote


def stop(remote: Remote, record: Record, progress: Progress, *, accounting: bool) -> None:
    """Export every node's container, then give the nodes back. Processes are not kept."""
    if record.identity is None:
        raise WorkFailed(f"{remote.target}: {record.run_key} has no job")
    progress(f"export the containers of job {record.identity}")
    remote.call_in_set("stop", record.run_key, record.identity)
    ending.end_run(
        remote, record.run_key, accounting=accounting, only_pending=False, progress=progress
    )


def start(remote: Remote, record: Record, progress: Progress, *, accounting: bool) -> Record:
    """The run in a new allocation, under its number. Raise WorkFailed if it was not stopped."""
    _, seen = observe.take(remote, artifacts=False, accounting=accounting, only=record.run_key)
    if not seen or not observe.is_stopped(seen[0]):
        raise WorkFailed(f"{remote.target}: {record.run_key} is not stopped")
    again = dataclasses.replace(
        records.reopened(seen[0].record), stage=Stage.CREATED, identity=records.JOB_ID
    )
    progress(f"submit {record.name}")
    data = again.to_json().encode()
    stopped = seen[0].record.identity or "0"
    answer = remote.call_in_set("start", record.run_key, record.name, stopped, data=data)
    job_id = answer.first("job") or ""
    progress(f"job {job_id}")
    return dataclasses.replace(again, identity=job_id)
