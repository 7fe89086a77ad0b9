"""Looking at a cluster: every run of a set, and writing down what has ended since."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TypeVar

from compiler.diagnostics import WorkFailed
from compiler.model import names
from compiler.planning.outcomes import Action
from compiler.planning.plan import ObjectChange
from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, Observation, ObservedRun, RunState
from compiler.targets.slurm.deployer import records
from compiler.targets.slurm.deployer.patch import is_changeable, live_fields
from compiler.targets.slurm.deployer.remote import Remote, encoded
from compiler.targets.slurm.deployer.snapshot import (
    AccountRow,
    QueueRow,
    RunFiles,
    Snapshot,
    parse,
    text_digest,
)
from compiler.targets.slurm.deployer.states import (
    Verdict,
    classify,
    classify_chain,
    was_refused,
    without,
)
from compiler.targets.slurm.deployer.vocabulary import is_end

_Row = TypeVar("_Row", QueueRow, AccountRow)


@dataclasses.dataclass(frozen=True, slots=True)
class Seen:
    """One run: its record as it should be now, the one that is there, and the verdict. `missing`
    are the tasks of a live pipeline that were not submitted, as that was cut off."""

    key: str
    record: Record
    written: Record | None
    text: str | None
    verdict: Verdict
    queue: QueueRow | None
    files: RunFiles | None
    missing: tuple[str, ...] = ()


def take(
    remote: Remote, *, artifacts: bool, accounting: bool, only: str | None = None
) -> tuple[Snapshot, list[Seen]]:
    """One round trip: all runs, or the one with the run key `only`."""
    flags = ("01"[artifacts], "01"[accounting])
    answer = remote.call_in_set("observe", *flags, *([only] if only else []))
    snapshot = parse(answer)
    seen = look(snapshot, remote.set_name, remote.target)
    return snapshot, [item for item in seen if only in (None, item.key)]


def look(snapshot: Snapshot, set_name: str, target: str) -> list[Seen]:
    """Every run that anything shows, in the order (work, run)."""
    queue_names = _by_run(set_name, snapshot.queue.values())
    account_names = _by_run(set_name, snapshot.accounted.values())
    keys = {*snapshot.records, *snapshot.runs, *queue_names, *account_names}
    seen = []
    for key in keys:
        text = snapshot.records.get(key)
        files = snapshot.runs.get(key)
        rows = (*queue_names.get(key, ()), *account_names.get(key, ()))
        named = _telling(queue_names.get(key, ())) or _telling(account_names.get(key, ()))
        record = records.read(text, target, key) if text is not None else None
        base = record or _lost(set_name, target, key, files, named)
        if base is None or (base.target != target and named is None):
            continue  # clusters may share a file system: it is another's
        base = dataclasses.replace(base, target=target)
        identity = base.identity or _found(rows, named, files)
        ids = (identity or "").split(",")
        queues = [_unless_of_another(snapshot.queue.get(item), set_name, key) for item in ids]
        accounts = [_unless_of_another(snapshot.accounted.get(item), set_name, key) for item in ids]
        queue, known = queues[0], dataclasses.replace(record, identity=identity) if record else None
        missing: tuple[str, ...] = ()
        if len(ids) > 1 or (identity and files and files.parts):
            verdict = classify_chain(known or base, queues, accounts, files, snapshot.accounting)
            if base.stage is Stage.INTENT and base.identity is None and files:
                missing = tuple(part.name for part in files.parts[len(ids) :])
            verdict = without(missing, verdict)
        else:
            verdict = classify(known, queue, accounts[0], files, snapshot.accounting)
        if not verdict.state.is_live:
            missing = ()
        now = _as_it_should_be(base, identity, verdict, is_whole=not missing)
        seen.append(Seen(key, now, record, text, verdict, queue, files, missing))
    return sorted(seen, key=lambda item: (item.record.work, item.record.run))


def observation(
    remote: Remote, *, artifacts: bool, accounting: bool, only: str | None = None
) -> Observation:
    """What the workflow is told; what has ended is written down on the way."""
    snapshot, seen = take(remote, artifacts=artifacts, accounting=accounting, only=only)
    settle(remote, snapshot, seen)
    return Observation(remote.target, tuple(_observed(item, snapshot) for item in seen))


def settle(remote: Remote, snapshot: Snapshot, seen: Iterable[Seen]) -> None:
    """Close and restore records, remove the secrets of jobs that have left the queue, and end
    the jobs that joined a group that has ended.

    Nothing depends on it having been done: whoever may only read goes on without, and the
    next look does it again.
    """
    lines = []
    for item in seen:
        old = text_digest(item.text) if item.text is not None else "-"
        verdict = item.verdict
        is_over = verdict.left_queue or not verdict.submitted
        if item.key in snapshot.secrets and is_over and not is_stopped(item):
            lines.append(f"secret|{item.key}|{old}")
        if item.key in snapshot.joined and verdict.left_queue:
            lines.append(f"joined|{item.key}|{old}")
        keeps = not verdict.submitted or verdict.state is RunState.UNKNOWN or item.missing
        if item.record != item.written and not keeps:
            text = item.record.to_json().encode()
            lines.append(f"record|{item.key}|{old}|{encoded(text)}")
    if not lines:
        return
    try:
        remote.call_in_set("settle", data=("\n".join(lines) + "\n").encode())
    except WorkFailed:
        return


def _unless_of_another(row: _Row | None, set_name: str, key: str) -> _Row | None:
    """None for a job of another run: a controller that lost its state counts anew."""
    name = records.parse_job_name(set_name, row.name) if row else None
    return None if name and name.run_key != key else row


def _by_run(set_name: str, rows: Iterable[_Row]) -> dict[str, list[_Row]]:
    """Rows by the run that their names say."""
    found: dict[str, list[_Row]] = {}
    for row in rows:
        name = records.parse_job_name(set_name, row.name)
        if name is not None and not was_refused(row):
            found.setdefault(name.run_key, []).append(row)
    return found


def _telling(rows: Sequence[_Row]) -> _Row | None:
    """Of several jobs of one name one in the queue, else the latest."""
    return max(rows, key=lambda row: (not is_end(row.state), int(row.job_id)), default=None)


def _found(
    rows: Sequence[QueueRow | AccountRow],
    named: QueueRow | AccountRow | None,
    files: RunFiles | None,
) -> str | None:
    """The identity of a run whose record has none, from whatever is left of its jobs: of a
    pipeline all that anything knows of, else the one job, or all that are live."""
    parts = files.parts if files else ()
    if parts:
        ids = {row.job_id for row in rows}
        ids |= {start[0] for part in parts for start in part.started}
        return ",".join(sorted(ids, key=int)[: len(parts)]) or None
    live = {row.job_id for row in rows if not is_end(row.state)}
    if len(live) > 1:
        return ",".join(sorted(live, key=int))
    if named is not None:
        return named.job_id
    return files.started[0][0] if files and files.started else None


def _lost(
    set_name: str,
    target: str,
    key: str,
    files: RunFiles | None,
    named: QueueRow | AccountRow | None,
) -> Record | None:
    """The record of a run that has none, from whatever is left of it."""
    copy = files.record if files else None
    return records.restored(set_name, target, key, copy, named.name if named else None)


def _as_it_should_be(
    base: Record, identity: str | None, verdict: Verdict, *, is_whole: bool
) -> Record:
    record = dataclasses.replace(base, identity=identity)
    if not verdict.submitted:
        # Nothing but its number is taken; the plan that took it may go on with it.
        return dataclasses.replace(record, outcome=REMOVED)
    if record.stage is Stage.INTENT and base.identity is not None:
        return record  # it is being removed: whoever began that comes back for it
    if not is_whole:
        return record  # an intent, until the rest is submitted
    if verdict.final and record.stage is not Stage.ENDED:
        return records.closed(record, verdict)
    if verdict.state.is_live and record.stage is not Stage.CREATED:
        return records.reopened(record)
    return record


def _observed(item: Seen, snapshot: Snapshot) -> ObservedRun:
    verdict = item.verdict
    row = item.queue if verdict.state is RunState.PENDING else None
    waiting = None
    if row is not None and row.submitted is not None:
        waiting = max(0, snapshot.now - row.submitted)
    rest = tuple(_to_submit(item.record, part) for part in item.missing)
    artifacts = records.live_texts(item.record, item.files.texts) if item.files else {}
    for job in rest:
        artifacts.pop(job.path, None)  # its script is there, the job is not
    return ObservedRun(
        record=item.record,
        state=verdict.state,
        detail="stopped, to be started again" if is_stopped(item) else verdict.detail,
        exit_code=verdict.exit_code,
        waiting_seconds=waiting,
        artifacts=artifacts,
        fields=live_fields(row) if row is not None and _may_change(row, item) else {},
        drifted=rest,
    )


def _may_change(row: QueueRow, item: Seen) -> bool:
    """A pipeline's jobs are not changed one by one."""
    is_pipeline = "," in (item.record.identity or "") or (item.files and item.files.parts)
    return is_changeable(row) and not is_pipeline


def _to_submit(record: Record, part: str) -> ObjectChange:
    label = names.run_label(record.set, record.work, record.run)
    path = f"slurm/{record.target}/{label}/{part}/{records.SCRIPT}"
    return ObjectChange(path, f"Job/{label}/{part}", Action.CREATE)


def is_stopped(item: Seen) -> bool:
    """Whether the run was ended by `triplane stop`, which keeps its containers."""
    stopped = item.files.stopped if item.files else None
    if stopped is None or item.verdict.state.is_live:
        return False
    return stopped in ("", item.record.identity)
