"""Many new runs at once: what is the same for all of them is done once a batch.

Everything that one submission promises holds: an intent before the job, no job twice, and a
batch that was begun runs to its end on the login node. A run of which anything is there already
is left to the careful way, one at a time; so are all, where the batch as a whole fails, so that
each has an answer of its own.
"""

from __future__ import annotations

import dataclasses
import io
import tarfile
from collections.abc import Iterator, Sequence

from compiler.diagnostics import TargetUnreachable, TriplaneError, WorkFailed
from compiler.planning.records import Record, Stage
from compiler.targets.interface import Progress, Step
from compiler.targets.slurm.deployer import execute, records
from compiler.targets.slurm.deployer.refusals import refused
from compiler.targets.slurm.deployer.remote import Remote, decoded
from compiler.targets.slurm.deployer.uploads import upload

# So that somebody else's look, which waits for the batch, does not wait long.
LARGEST = 250

Result = tuple[Step, Record | TriplaneError]


def create_all(
    remote: Remote, steps: Sequence[Step], progress: Progress, *, accounting: bool
) -> Iterator[Result]:
    """Each step with the record as it now is, or with what stood in its way."""
    for at in range(0, len(steps), LARGEST):
        chunk = steps[at : at + LARGEST]
        try:
            yield from _create(remote, chunk, progress, accounting)
        except TargetUnreachable as error:
            for step in steps[at:]:
                yield step, error
            return


def is_plain(step: Step) -> bool:
    """Whether the step is one new job that replaces nothing and hangs on nothing."""
    scripts = [records.file_name(item) for item in step.artifacts]
    return step.action == "create" and scripts == [records.SCRIPT] and not step.record.joins


def _create(
    remote: Remote, steps: Sequence[Step], progress: Progress, accounting: bool
) -> Iterator[Result]:
    try:
        _upload(remote, steps, progress)
        data = _archive(steps)
        progress(f"submit {len(steps)} jobs")
        answer = remote.call_in_set("submit_many", data=data)
    except WorkFailed as error:
        progress(f"not at once ({error})")
        yield from _one_by_one(remote, steps, progress, accounting)
        return
    by_run = {step.record.run_key: step for step in steps}
    for line in answer.of("job"):
        run, _, job_id = line.partition("|")
        step = by_run.pop(run)
        progress(f"{step.record.name}: job {job_id}")
        yield step, dataclasses.replace(_created(step), identity=job_id)
    for line in answer.of("refused"):
        run, _, said = line.partition("|")
        said = decoded(said).decode("utf-8", "replace").strip()
        yield by_run.pop(run), refused(remote.target, said)
    away = answer.first("away")
    if away is not None:
        words = decoded(away).decode("utf-8", "replace").strip()
        taken = set(answer.of("taken"))
        for run in [run for run in by_run if run not in taken]:
            yield by_run.pop(run), TargetUnreachable(remote.target, words)
    yield from _one_by_one(remote, list(by_run.values()), progress, accounting)


def _one_by_one(
    remote: Remote, steps: Sequence[Step], progress: Progress, accounting: bool
) -> Iterator[Result]:
    for at, step in enumerate(steps):
        try:
            yield step, execute.execute(remote, step, progress, accounting=accounting)
        except TargetUnreachable as error:
            for rest in steps[at:]:
                yield rest, error
            return
        except TriplaneError as error:
            yield step, error


def _upload(remote: Remote, steps: Sequence[Step], progress: Progress) -> None:
    trees = {tree.digest: tree for step in steps for tree in step.uploads if tree.local is not None}
    if trees:
        for digest in remote.call_at_base("missing", *trees).of("missing"):
            upload(remote, trees[digest], progress)


def _intent(step: Step) -> Record:
    files = {artifact.path: artifact.digest for artifact in step.artifacts}
    return dataclasses.replace(step.record, stage=Stage.INTENT, identity=None, files=files)


def _created(step: Step) -> Record:
    return dataclasses.replace(_intent(step), stage=Stage.CREATED, identity=records.JOB_ID)


def _archive(steps: Sequence[Step]) -> bytes:
    buffer = io.BytesIO()
    order = "".join(f"{step.record.run_key}|{step.record.name}\n" for step in steps)
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as tar:
        records.add(tar, "order", order, 0o644)
        for step in steps:
            key = step.record.run_key
            records.add(tar, f"records/{key}.json", _intent(step).to_json(), 0o644)
            records.add(tar, f"created/{key}.json", _created(step).to_json(), 0o644)
            for artifact in step.artifacts:
                mode = 0o755 if artifact.executable else 0o644
                name = records.file_name(artifact)
                records.add(tar, f"runs/{key}/{name}", artifact.text, mode)
            if step.secret_values:
                lines = records.secret_lines(step.secret_values)
                records.add(tar, f"secrets/{key}.env", lines, 0o600)
    return buffer.getvalue()
