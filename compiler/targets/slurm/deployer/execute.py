"""Doing one step so that a kill at any point leaves it to be completed by the next call.

The order is always: the intent (a record that only one apply can create), the files, one
snippet in which Slurm gets the job and the record its id. That snippet looks for a job of the
same name first, and it runs to its end on the login node whatever becomes of its caller.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.planning.records import Record, Stage
from compiler.planning.states import ObservedRun, RunState
from compiler.targets.interface import Progress, Step
from compiler.targets.slurm.deployer import ending, observe, patch, records
from compiler.targets.slurm.deployer.remote import Remote, decoded
from compiler.targets.slurm.deployer.uploads import upload


def execute(remote: Remote, step: Step, progress: Progress, *, accounting: bool) -> Record:
    """The record as it is after the step. Raise PlanOutdated, WorkFailed, TargetUnreachable."""
    match step.action:
        case "create":
            return _create(remote, step, progress, None, accounting)
        case "replace":
            return _create(remote, step, progress, step.previous, accounting)
        case "update":
            return _update(remote, step, progress)
        case "delete":
            return _delete(remote, step, progress, accounting)
    raise WorkFailed(f"{remote.target}: a Slurm job cannot be {step.action!r}")


def _create(
    remote: Remote, step: Step, progress: Progress, previous: ObservedRun | None, accounting: bool
) -> Record:
    intent = dataclasses.replace(
        step.record,
        stage=Stage.INTENT,
        identity=None,
        files={artifact.path: artifact.digest for artifact in step.artifacts},
    )
    key = intent.run_key
    scripts = [records.file_name(artifact) for artifact in step.artifacts]
    if not any(name.endswith(records.SCRIPT) for name in scripts):
        raise WorkFailed(f"{remote.target}: there is no sbatch script to submit for {key}")
    mode = "any" if previous and previous.state is RunState.RUNNING else "pending"
    uploads = {tree.digest: tree for tree in step.uploads if tree.local is not None}
    progress(f"reserve run {intent.run} of {intent.work}")
    answer = remote.call_in_set("reserve", key, mode, *uploads, data=intent.to_json().encode())
    taken = answer.first("taken")
    if taken is not None:
        there = records.read(decoded(taken).decode("utf-8", "replace"), remote.target, key)
        if not _is_ours(there, intent):
            raise PlanOutdated([f"{remote.target}: run {intent.run} of {intent.work} is taken"])
        if there.stage is not Stage.INTENT:
            return there
        mode = answer.first("mode") or mode
    if previous is not None:
        only_pending = mode == "pending"
        ended = ending.end_run(
            remote,
            previous.record.run_key,
            accounting=accounting,
            only_pending=only_pending,
            progress=progress,
        )
        if only_pending and ended and ended.verdict.state is not RunState.CANCELLED:
            was = f"run {previous.record.run} of {intent.work} is {ended.verdict.state}"
            raise PlanOutdated([f"{remote.target}: {was}, it was pending"])
    for digest in answer.of("missing"):
        upload(remote, uploads[digest], progress)
    progress(f"submit {intent.name}")
    created = dataclasses.replace(intent, stage=Stage.CREATED, identity=records.JOB_ID)
    data = records.archive(created, step.artifacts, step.secret_values)
    return _submit(remote, created, "new", data, progress)


def _submit(remote: Remote, created: Record, how: str, data: bytes, progress: Progress) -> Record:
    """The jobs of a run that are not there yet; `how` as in submit.sh."""
    answer = remote.call_in_set(
        "submit", created.run_key, created.name, how, created.joins, data=data
    )
    job_id, _, came = (answer.first("job") or "|").partition("|")
    progress(f"job {job_id} was submitted before" if came == "found" else f"job {job_id}")
    return dataclasses.replace(created, identity=job_id)


def _is_ours(there: Record, intent: Record) -> bool:
    """Whether the record was written by an earlier call for the same step."""
    return (there.name, there.plan, there.spec_digest, there.files_digest) == (
        intent.name,
        intent.plan,
        intent.spec_digest,
        intent.files_digest,
    )


def _update(remote: Remote, step: Step, progress: Progress) -> Record:
    """Change a waiting job in place; without fields only put its files back. Of a pipeline that
    was only submitted in part, submit the rest as it was planned."""
    previous = step.previous
    if previous is not None and previous.record.stage is Stage.INTENT:
        rest = dataclasses.replace(previous.record, stage=Stage.CREATED)
        progress(f"submit the rest of {rest.name}")
        return _submit(remote, rest, "rest", b"", progress)
    identity = previous.record.identity if previous else step.record.identity
    if identity is None:
        raise WorkFailed(f"{remote.target}: {step.record.run_key} has no job to be changed")
    record = dataclasses.replace(
        step.record,
        stage=Stage.CREATED,
        identity=identity,
        files={artifact.path: artifact.digest for artifact in step.artifacts},
    )
    words = _words(remote, step.fields)
    if words and record.name and "job-name" not in step.fields:
        # By its name a job is found again, and the name holds the digest.
        words.append(f"JobName={record.name}")
    progress(f"change job {identity}: {', '.join(words) or 'files only'}")
    data = records.archive(record, step.artifacts)
    remote.call_in_set("update", record.run_key, identity, *words, data=data)
    return record


def _words(remote: Remote, fields: Mapping[str, str]) -> list[str]:
    try:
        return patch.scontrol_words(fields)
    except ValueError as error:
        raise WorkFailed(f"{remote.target}: {error}") from None


def _delete(remote: Remote, step: Step, progress: Progress, accounting: bool) -> Record:
    """End the run if it is live, remove its files; the record stays.

    The record turns into an intent first, so that the same plan knows what it had begun.
    """
    key = step.record.run_key
    _, seen = observe.take(remote, artifacts=False, accounting=accounting, only=key)
    if not seen:
        return dataclasses.replace(step.record, stage=Stage.ENDED)
    found = seen[0]
    if found.verdict.state.is_live:
        begun = dataclasses.replace(found.record, stage=Stage.INTENT, plan=step.record.plan)
        ending.write(remote, begun, found.text)
        only_pending = step.previous is not None and step.previous.state is RunState.PENDING
        ended = ending.end_run(
            remote, key, accounting=accounting, only_pending=only_pending, progress=progress
        )
        found = ended or found
    progress(f"remove the files of {key}")
    record = dataclasses.replace(
        found.record, plan=step.record.plan, exit_code=found.verdict.exit_code
    )
    return ending.remove_run(remote, record, found.text)
