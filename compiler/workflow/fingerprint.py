"""Whether a plan still fits what is there: exactly what it was made from, or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from compiler.diagnostics import PlanOutdated
from compiler.model import Stack
from compiler.planning import digests
from compiler.planning.changes import live_digest
from compiler.planning.outcomes import Action
from compiler.planning.plan import ObjectChange, WorkChange
from compiler.planning.records import Stage
from compiler.planning.states import Observation, ObservedRun, RunState


def still_to_do(
    changes: Iterable[WorkChange], observations: Mapping[str, Observation], identity: str
) -> list[WorkChange]:
    """The changes that this plan has not finished yet; raise PlanOutdated with all that moved."""
    moved: list[str] = []
    todo: list[WorkChange] = []
    for change in changes:
        observation = observations[change.target]
        recorded = run_of(observation, change.work, change.run)
        if recorded is not None and recorded.record.plan == identity:
            if recorded.record.stage is Stage.INTENT:
                todo.append(change)
            continue
        if change.action is Action.DELETE and recorded is None:
            continue  # this plan's own deletion leaves no record to recognise it by
        difference = _moved(change, previous_of(change, observation), observation)
        if difference:
            moved.append(f"{change.address}: {difference}")
        else:
            todo.append(change)
    if moved:
        raise PlanOutdated(moved)
    return todo


def previous_of(change: WorkChange, observation: Observation) -> ObservedRun | None:
    """The run that the plan saw as the last one of this work."""
    if change.last_run is None:
        return None
    return run_of(observation, change.work, change.last_run)


def run_of(observation: Observation, work: str, number: int) -> ObservedRun | None:
    return next((run for run in observation.of_work(work) if run.record.run == number), None)


def run_for(change: WorkChange, observations: Mapping[str, Observation]) -> ObservedRun | None:
    """The run of a change on its target; None where that has none, or was not seen."""
    seen = observations.get(change.target)
    return None if seen is None else run_of(seen, change.work, change.run)


def check_secrets(
    changes: Sequence[WorkChange], stack: Stack, secrets: Mapping[str, Mapping[str, str]]
) -> None:
    """Raise PlanOutdated if a value is not handed over again, or is another one."""
    differing = []
    for change in changes:
        for name, digest in change.secrets.items():
            value = secrets.get(change.work, {}).get(name)
            if value is None:
                differing.append(f"{change.address}: the value of secret {name} is not handed over")
            elif digests.secret_digest(value, f"{stack.set_name}/{name}") != digest:
                differing.append(f"{change.address}: secret {name} has another value")
    if differing:
        raise PlanOutdated(differing)


def _moved(change: WorkChange, last: ObservedRun | None, observation: Observation) -> str:
    """What no longer fits the plan's fingerprint, or an empty string."""
    if change.action is not Action.DELETE and change.record and change.record.joins:
        group = next(
            (run for run in observation.runs if run.record.run_key == change.record.joins), None
        )
        if group is None or not (group.state.is_live or group.state is RunState.WRITTEN):
            return f"the group that it joins, {change.record.joins}, has ended"
    latest = observation.last_run(change.work)
    # Runs that are added by hand follow no other, and a deletion is of one run.
    is_next = change.action is not Action.DELETE and not (change.record and change.record.extra)
    if is_next and latest is not None and latest is not last:
        return f"run {latest.record.run} was made meanwhile"
    if change.action is Action.CREATE and observation.highest_run(change.work) >= change.run:
        return f"run {change.run} is taken meanwhile"
    if change.last_run is None:
        return ""
    if last is None:
        # A new run may follow one that was on another target.
        if change.action is Action.CREATE or None in change.rows:
            return ""
        return f"run {change.last_run} is no longer recorded"
    if last.record.identity != change.identity:
        return f"run {change.last_run} is now {last.record.identity}, it was {change.identity}"
    if last.state not in change.rows:
        was = ", ".join(str(row) for row in change.rows)
        return f"run {change.last_run} is {last.state} now, the plan holds for {was}"
    differences = (_object_moved(item, last) for item in change.objects)
    return next((words for words in differences if words), "")


def _object_moved(item: ObjectChange, last: ObservedRun) -> str:
    if item.path not in last.record.files:
        return ""
    live = last.artifacts.get(item.path)
    if live is None:
        # Elsewhere than in a directory the platform may have forgotten its texts by itself.
        known = last.artifacts or last.state is RunState.WRITTEN
        return f"{item.path} is gone" if known and item.before is not None else ""
    if item.before is None:
        return f"{item.path} is there again"
    if live_digest(live, item.before) != item.before:
        return f"{item.path} changed"
    return ""
