"""Applying a plan: exactly its bytes, or nothing and the reason."""

from __future__ import annotations

import getpass
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from compiler.diagnostics import PlanOutdated, TargetUnreachable, TriplaneError, WorkFailed
from compiler.model import Stack
from compiler.planning import digests
from compiler.planning.outcomes import Action
from compiler.planning.plan import Plan, WorkChange
from compiler.planning.plan_file import plan_id
from compiler.planning.records import Record, Stage
from compiler.planning.states import Observation, ObservedRun
from compiler.targets.interface import Deployer, Step
from compiler.targets.registry import deployer_of

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class StepResult:
    """How one change ended: `record` where it was carried out, `error` where it was not."""

    change: WorkChange
    record: Record | None = None
    error: TriplaneError | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Applied:
    """The results in the order of execution; `refused` are changes that need a flag."""

    results: tuple[StepResult, ...] = ()
    refused: tuple[WorkChange, ...] = field(default=())

    @property
    def failed(self) -> tuple[StepResult, ...]:
        return tuple(result for result in self.results if result.error is not None)

    @property
    def exit_code(self) -> int:
        """1 if anything failed or was refused, 3 if only unreachable targets were in the way."""
        codes = {result.error.exit_code for result in self.failed if result.error}
        if self.refused:
            codes.add(1)
        return 0 if not codes else 1 if 1 in codes else max(codes)


def apply_plan(
    plan: Plan,
    stack: Stack,
    secrets: Mapping[str, Mapping[str, str]],
    progress: Progress = lambda _: None,
) -> Applied:
    """Carry out a plan. `secrets[work][name]` are the values to hand over again.

    Raise PlanOutdated before anything is touched if the live state moved out of what the
    plan allows or a secret's value differs; LockHeld if another apply is at work. A step that
    this very plan finished earlier is recognised and left out.
    """
    if plan.set != stack.set_name:
        raise PlanOutdated([f"the plan is for set {plan.set!r}, the stack's is {stack.set_name!r}"])
    identity = plan_id(plan)
    changes = [change for change in plan.works if change.action.changes]
    _check_secrets(changes, stack, secrets)
    refused = tuple(change for change in plan.works if change.action is Action.REFUSED)
    targets = dict.fromkeys(change.target for change in changes)
    deployers = {key: deployer_of(stack, stack.targets[key]) for key in targets}
    results: list[StepResult] = []
    with _locked(deployers, _holder(identity)) as away:
        observations = {
            key: deployer.observe() for key, deployer in deployers.items() if key not in away
        }
        reachable = [change for change in changes if change.target not in away]
        todo = _still_right(reachable, observations, identity)
        for change in _in_order(changes):
            if change.target in away:
                results.append(StepResult(change, error=away[change.target]))
            elif any(result.error and result.change.work == change.work for result in results):
                stays = WorkFailed(f"{change.work} stays where it is: its earlier step failed")
                results.append(StepResult(change, error=stays))
            elif change not in todo:
                last = observations[change.target].last_run(change.work)
                record = last.record if last else None
                results.append(StepResult(change, record, note="done by an earlier apply"))
            else:
                results.append(
                    _execute(
                        change,
                        deployers[change.target],
                        observations[change.target],
                        identity,
                        secrets.get(change.work, {}),
                        progress,
                    )
                )
    return Applied(tuple(results), refused)


def _execute(
    change: WorkChange,
    deployer: Deployer,
    observation: Observation,
    identity: str,
    secret_values: Mapping[str, str],
    progress: Progress,
) -> StepResult:
    assert change.record is not None
    step = Step(
        action=str(change.action),
        record=replace(change.record, plan=identity),
        artifacts=tuple(item.artifact for item in change.objects if item.artifact is not None),
        previous=_previous(change, observation),
        uploads=change.uploads,
        secret_values=dict(secret_values),
        fields=change.fields,
    )
    progress(f"{change.address}: {change.action} run {change.run}")
    try:
        return StepResult(change, deployer.execute(step, progress))
    except TriplaneError as error:
        return StepResult(change, error=error)


def _previous(change: WorkChange, observation: Observation) -> ObservedRun | None:
    for run in observation.of_work(change.work):
        if run.record.run == change.last_run:
            return run
    return None


def _still_right(
    changes: list[WorkChange], observations: Mapping[str, Observation], identity: str
) -> list[WorkChange]:
    """The changes still to do; raise PlanOutdated with all that moved."""
    moved: list[str] = []
    todo: list[WorkChange] = []
    for change in changes:
        observation = observations[change.target]
        recorded = _recorded(observation, change)
        if recorded is not None and recorded.record.plan == identity:
            if recorded.record.stage is Stage.INTENT:
                todo.append(change)
            continue
        if change.action is Action.DELETE and recorded is None:
            continue  # this plan's own deletion leaves no record to recognise it by
        difference = _moved(change, _previous(change, observation), observation)
        if difference:
            moved.append(f"{change.address}: {difference}")
        else:
            todo.append(change)
    if moved:
        raise PlanOutdated(moved)
    return todo


def _recorded(observation: Observation, change: WorkChange) -> ObservedRun | None:
    return next(
        (run for run in observation.of_work(change.work) if run.record.run == change.run), None
    )


def _moved(change: WorkChange, last: ObservedRun | None, observation: Observation) -> str:
    """What no longer fits the plan's fingerprint, or an empty string."""
    latest = observation.last_run(change.work)
    if change.action is not Action.DELETE and latest is not None and latest is not last:
        return f"run {latest.record.run} was made meanwhile"
    if change.action is Action.CREATE and observation.highest_run(change.work) >= change.run:
        return f"run {change.run} is taken meanwhile"
    if change.last_run is None or last is None:
        if change.last_run is not None and None not in change.rows:
            elsewhere = change.action is Action.CREATE
            return "" if elsewhere else f"run {change.last_run} is no longer recorded"
        return ""
    if last.record.identity != change.identity:
        return f"run {change.last_run} is now {last.record.identity}, it was {change.identity}"
    if last.state not in change.rows:
        was = ", ".join(str(row) for row in change.rows)
        return f"run {change.last_run} is {last.state} now, the plan holds for {was}"
    for item in change.objects:
        if item.before is None or item.path not in last.record.files:
            continue
        live = last.artifacts.get(item.path)
        if live is None and last.artifacts:
            return f"{item.path} is gone"
        if (
            live is not None
            and item.artifact is not None
            and replace(item.artifact, text=live).digest != item.before
        ):
            return f"{item.path} changed"
    return ""


def _check_secrets(
    changes: list[WorkChange], stack: Stack, secrets: Mapping[str, Mapping[str, str]]
) -> None:
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


def _in_order(changes: list[WorkChange]) -> list[WorkChange]:
    """Deletions first where they free the way for a move, else in the plan's order."""
    return sorted(changes, key=lambda change: change.action is not Action.DELETE)


@contextmanager
def _locked(
    deployers: Mapping[str, Deployer], holder: str
) -> Iterator[dict[str, TargetUnreachable]]:
    """All locks in the order of the keys; yields the targets that could not be reached."""
    held: list[Deployer] = []
    away: dict[str, TargetUnreachable] = {}
    try:
        for key in sorted(deployers):
            try:
                deployers[key].lock(holder)
            except TargetUnreachable as error:
                away[key] = error
                continue
            held.append(deployers[key])
        yield away
    finally:
        for deployer in reversed(held):
            try:
                deployer.unlock()
            except TargetUnreachable as error:
                away[error.target] = error


def _holder(identity: str) -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()} pid {os.getpid()} plan {identity}\n"
