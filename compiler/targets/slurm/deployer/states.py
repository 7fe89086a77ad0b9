"""What became of a run: a pure function of all that is known about it.

The controller knows best while it knows the job at all; then the accounting; then what the
script itself left in its run folder; and where nothing is left, what is missing says something.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, RunState
from compiler.targets.slurm.deployer.snapshot import Accounting, AccountRow, QueueRow, RunFiles
from compiler.targets.slurm.deployer.vocabulary import (
    ENDED,
    SUSPENDED,
    WAITING,
    base_state,
    is_end,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """`state` and Slurm's own words for it.

    `submitted` is False for a run whose number was taken and nothing more; `final` means that
    no later look can bring another answer, so that it may be written down.
    """

    state: RunState
    detail: str = ""
    exit_code: int | None = None
    final: bool = False
    submitted: bool = True

    @property
    def left_queue(self) -> bool:
        return self.submitted and not self.state.is_live and self.state is not RunState.UNKNOWN


def classify(
    record: Record | None,
    queue: QueueRow | None,
    accounted: AccountRow | None,
    files: RunFiles | None,
    accounting: Accounting,
) -> Verdict:
    """The verdict on one run. `record` is None where it is lost.

    The rows are those of the run's job, `files` its run folder's (None if there is none).
    """
    files = files or RunFiles()
    identity = (record.identity if record else None) or (
        queue.job_id if queue else accounted.job_id if accounted else None
    )
    started = [start for start in files.started if identity in (None, start[0])]
    code = None
    if files.ended and identity in (None, files.ended[1]):
        code = files.ended[0]
    if queue is not None and not is_end(queue.state):
        return _live(queue)
    if record is not None and record.stage is Stage.ENDED:
        return _recorded(record, [row.state for row in (accounted, queue) if row is not None])
    if queue is not None:
        return _ended(queue.state, queue.exit_code, accounted, code, started, in_queue=True)
    if accounted is not None and is_end(accounted.state):
        return _ended(accounted.state, None, accounted, code, started, in_queue=False)
    if record is None:
        return Verdict(RunState.UNKNOWN, "its record is lost")
    if code is not None:
        state = RunState.FAILED if code else RunState.SUCCEEDED
        return Verdict(state, "", code, final=True)
    if accounted is not None:
        # The controller forgot it before the accounting heard of its end.
        waits = base_state(accounted.state) in WAITING
        detail = f"no longer in the queue, {accounted.state} in the accounting"
        return Verdict(RunState.PENDING if waits else RunState.RUNNING, detail)
    if identity is None and not started:
        return Verdict(RunState.CANCELLED, "never submitted", submitted=False)
    if accounting is Accounting.AWAY:
        return Verdict(RunState.UNKNOWN, "no longer in the queue, the accounting does not answer")
    if started:
        return Verdict(RunState.VANISHED, "started, and nobody knows how it ended", final=True)
    return Verdict(RunState.CANCELLED, "left the queue before it started", final=True)


def classify_chain(
    record: Record,
    queue: Sequence[QueueRow | None],
    accounted: Sequence[AccountRow | None],
    files: RunFiles | None,
    accounting: Accounting,
) -> Verdict:
    """The verdict on a pipeline: the rows are those of its jobs, in order.

    It waits until its first job starts and runs until the last has ended; the first that does
    not succeed decides, as those behind it are never started.
    """
    live = any(row is not None and not is_end(row.state) for row in queue)
    if record.stage is Stage.ENDED and not live:
        return classify(record, None, None, None, accounting)
    ids = (record.identity or "").split(",")
    parts = [*(files.parts if files else ()), *[RunFiles()] * len(ids)]
    verdicts = [
        classify(
            dataclasses.replace(record, identity=job_id, stage=Stage.CREATED),
            queue[at],
            accounted[at],
            parts[at],
            accounting,
        )
        for at, job_id in enumerate(ids)
    ]
    unsuccessful = [item for item in verdicts if item.state is not RunState.SUCCEEDED]
    if not unsuccessful:
        return verdicts[-1]
    first = unsuccessful[0]
    running = next((item for item in verdicts if item.state is RunState.RUNNING), None)
    if running is not None:
        return running
    if first.state is RunState.PENDING and first is not verdicts[0]:
        return dataclasses.replace(first, state=RunState.RUNNING)
    later = [item for item in verdicts if item.state.is_live]
    if later and not first.state.is_live:
        # Slurm is about to cancel what waited for it.
        return dataclasses.replace(first, final=False)
    return first


def without(missing: Sequence[str], verdict: Verdict) -> Verdict:
    """The verdict on a pipeline of which some tasks were not submitted, as that was cut off."""
    if not missing or not (verdict.state.is_live or verdict.state is RunState.SUCCEEDED):
        return verdict
    detail = f"{verdict.detail}; not submitted yet: {', '.join(missing)}".removeprefix("; ")
    state = verdict.state if verdict.state.is_live else RunState.RUNNING
    return Verdict(state, detail)


def was_refused(row: QueueRow | AccountRow) -> bool:
    """Whether this is what Slurm keeps of a submission that it refused: it never was a job."""
    return base_state(row.state) == "FAILED" and not row.nodes


def _live(row: QueueRow) -> Verdict:
    state = base_state(row.state)
    if state == SUSPENDED:
        return Verdict(RunState.PENDING, state)
    if state in WAITING:
        return Verdict(RunState.PENDING, f"{state} ({row.reason})" if row.reason else state)
    # COMPLETING, CONFIGURING, STAGE_OUT, STOPPED, ... and what later versions may add.
    return Verdict(RunState.RUNNING, state)


def _recorded(record: Record, words: list[str]) -> Verdict:
    """What was written down, in Slurm's own words if these say the same."""
    if record.outcome == REMOVED:
        state = RunState.CANCELLED
        if record.exit_code is not None:
            state = RunState.FAILED if record.exit_code else RunState.SUCCEEDED
        return Verdict(state, REMOVED, record.exit_code)
    try:
        state = RunState(record.outcome or "")
    except ValueError:
        return Verdict(RunState.UNKNOWN, f"recorded as {record.outcome!r}", record.exit_code)
    detail = next((word for word in words if ENDED.get(base_state(word)) is state), "")
    return Verdict(state, detail, record.exit_code)


def _ended(
    words: str,
    exit_code: int | None,
    accounted: AccountRow | None,
    code: int | None,
    started: list[tuple[str, int]],
    *,
    in_queue: bool,
) -> Verdict:
    """A state of the end, with the exit code from whoever knows it."""
    state = ENDED[base_state(words)]
    detail = words
    if accounted is not None and is_end(accounted.state):
        detail = accounted.state  # it names who cancelled
        exit_code = accounted.exit_code if accounted.exit_code is not None else exit_code
    if state is RunState.SUCCEEDED:
        return Verdict(state, detail, 0, final=True)
    exit_code = code or exit_code or None
    if state is RunState.CANCELLED and not started:
        exit_code = None
        detail += " before it started"
    # The accounting, or the file seen over NFS, may bring the code a little later.
    waits = in_queue and state is RunState.FAILED and exit_code is None
    return Verdict(state, detail, exit_code, final=not waits)
