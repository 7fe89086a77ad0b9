"""Moving on from runs that were accepted and do not start in the time that is set for that."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from compiler.diagnostics import PlanOutdated, TargetUnreachable, WorkFailed
from compiler.planning.plan import WorkChange
from compiler.planning.states import Observation, ObservedRun, RunState
from compiler.workflow.failover import following_of
from compiler.workflow.fingerprint import run_for
from compiler.workflow.steps import StepResult, Steps

_POLL_SECONDS = 2.0


@dataclass
class _Waiting:
    """A run that has another place to go on to, until `deadline` (of the clock)."""

    at: int
    result: StepResult
    others: Sequence[WorkChange]
    deadline: float


def started_or_moved(
    results: Sequence[StepResult],
    others: Mapping[int, Sequence[WorkChange]],
    steps: Steps,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> list[StepResult]:
    """The results, each of the candidate that started, or of the last that is there.

    `others` are, by the index of a result, the candidates after it. All wait at the same time.
    What was cancelled before it started counts as not started: so does what an apply that was
    interrupted here had given up.
    """
    found = list(results)
    waiting = [
        item
        for at, result in enumerate(results)
        if (item := _waiting(at, result, others.get(at, ()), clock)) is not None
    ]
    for item in waiting:
        change = item.result.change
        limit = f"at most {change.start_within} s"
        steps.progress(f"{change.address}: waiting {limit} for run {change.run} to start")
    while waiting:
        seen = _observed(waiting, steps)
        still: list[_Waiting] = []
        for item in waiting:
            run = run_for(item.result.change, seen)
            if run is not None and _may_wait(run, item, clock):
                still.append(item)
            elif run is not None and run.state in (RunState.PENDING, RunState.CANCELLED):
                found[item.at], rest = _moved(item, run, steps)
                again = _waiting(item.at, found[item.at], rest, clock)
                still += [] if again is None else [again]
        waiting = still
        if waiting:
            sleep(_POLL_SECONDS)
    return found


def _waiting(
    at: int, result: StepResult, others: Sequence[WorkChange], clock: Callable[[], float]
) -> _Waiting | None:
    limit = result.change.start_within
    if result.error is not None or limit is None or not others:
        return None
    return _Waiting(at, result, others, clock() + limit)


def _observed(waiting: Sequence[_Waiting], steps: Steps) -> dict[str, Observation]:
    """What is there of the targets that are waited for; one that went away is waited for no more,
    as its run may have started."""
    seen = {}
    for key in sorted({item.result.change.target for item in waiting}):
        try:
            seen[key] = steps.deployers[key].observe(False)
        except TargetUnreachable as error:
            steps.progress(f"{key}: cannot say what has started: {error}")
    return seen


def _may_wait(run: ObservedRun, item: _Waiting, clock: Callable[[], float]) -> bool:
    return run.state is RunState.PENDING and clock() < item.deadline


def _moved(
    item: _Waiting, run: ObservedRun, steps: Steps
) -> tuple[StepResult, Sequence[WorkChange]]:
    """The result of the next candidate that takes the work, and those after it; the same result
    where the run started at the last moment."""
    change = item.result.change
    late = WorkFailed(f"run {change.run} did not start within {change.start_within} s")
    try:
        result = steps.go_on(StepResult(change, error=late), item.others, run)
    except PlanOutdated:
        return item.result, ()
    if result.error is None:
        result = replace(result, note="; ".join(filter(None, (item.result.note, result.note))))
    return result, following_of(result.change, item.others)
