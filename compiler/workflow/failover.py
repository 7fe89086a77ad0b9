"""Moving on to the next candidate where a target refuses a new run; exactly one live run remains.

A plan holds the bytes of every candidate, each under a run number of its own. What a target
refused, or did not start in time, is closed there, and confirmed gone, before the next one is
asked: by its record this plan, started again after a crash, goes on where it stood.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from compiler.diagnostics import LockHeld, TriplaneError, WorkFailed
from compiler.planning.outcomes import Action
from compiler.planning.plan import WorkChange
from compiler.planning.records import Stage
from compiler.planning.states import REMOVED, Observation, ObservedRun, RunState
from compiler.targets.interface import Deployer, Progress, Step
from compiler.workflow.fingerprint import run_for, run_of


def candidates_of(change: WorkChange) -> tuple[WorkChange, ...]:
    """The change and what to try after it, in order."""
    return (change, *change.alternatives)


def all_candidates(changes: Iterable[WorkChange]) -> Iterator[WorkChange]:
    for change in changes:
        yield from candidates_of(change)


def remaining(
    change: WorkChange, observations: Mapping[str, Observation], identity: str
) -> tuple[WorkChange, ...]:
    """The candidates from the one on where this plan stands: where it has a run, else the first
    that it has not given up.

    A target may keep nothing of what it refused, so a run further down says that those before it
    were asked. The last one stays in any case, so that there is one to say why.
    """
    candidates = candidates_of(change)
    given_up = -1
    for at in reversed(range(len(candidates))):
        candidate = candidates[at]
        there = run_for(candidate, observations)
        if there is None or there.record.plan != identity:
            continue
        if not _is_given_up(there, candidate):
            return candidates[at:]
        given_up = max(given_up, at)
    return candidates[min(given_up + 1, len(candidates) - 1) :]


def stands(candidate: WorkChange, observations: Mapping[str, Observation], identity: str) -> bool:
    """Whether this plan has a run of the candidate."""
    there = run_for(candidate, observations)
    return there is not None and there.record.plan == identity


def is_refusal(error: TriplaneError | None) -> bool:
    """Whether another target may be asked: this one answered, and did not take the work."""
    return isinstance(error, WorkFailed) and not isinstance(error, LockHeld)


def following_of(candidate: WorkChange, candidates: Sequence[WorkChange]) -> tuple[WorkChange, ...]:
    """The candidates after this one; all of them if it is not among them."""
    for at, item in enumerate(candidates):
        if item is candidate:
            return tuple(candidates[at + 1 :])
    return tuple(candidates)


def give_up(
    candidate: WorkChange,
    deployer: Deployer,
    identity: str,
    progress: Progress,
    pending: ObservedRun | None = None,
) -> TriplaneError | None:
    """Close what a candidate left on its target, and make sure that nothing runs there.

    `pending` is its run where it was accepted: that is only ended while it still waits.
    Returns why it cannot be told; then no other target may be asked.
    """
    assert candidate.record is not None
    closing = Step(
        action=str(Action.DELETE),
        record=replace(candidate.record, plan=identity),
        artifacts=(),
        previous=pending,
    )
    try:
        observation = deployer.observe(False)
        if run_of(observation, candidate.work, candidate.run) is None:
            return None  # it was refused before anything was written down
        record = deployer.execute(closing, progress)
        after = run_of(deployer.observe(False), candidate.work, candidate.run)
    except TriplaneError as error:
        return error
    if after is not None and after.state.is_live:
        return WorkFailed(f"{candidate.address}: {record.name} is still {after.state}")
    return None


def _is_given_up(there: ObservedRun, candidate: WorkChange) -> bool:
    """Whether the plan went on from it: it was refused, or had not started in its time. What was
    cancelled before its time was over counts as not started."""
    record = there.record
    if record.stage is not Stage.ENDED:
        return False
    never_accepted = record.identity is None or record.outcome == REMOVED
    waited = candidate.start_within is not None and there.state is RunState.CANCELLED
    return never_accepted or waited
