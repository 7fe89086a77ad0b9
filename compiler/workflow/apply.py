"""Applying a plan: exactly its bytes, or nothing and the reason."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from compiler.diagnostics import (
    PlanOutdated,
    TargetUnreachable,
    WorkFailed,
)
from compiler.model import Stack
from compiler.planning.outcomes import Action
from compiler.planning.plan import Plan, WorkChange
from compiler.planning.plan_file import plan_id
from compiler.planning.records import Lifecycle
from compiler.planning.states import Observation
from compiler.targets.interface import Deployer
from compiler.targets.registry import deployer_of
from compiler.workflow.failover import all_candidates, following_of, remaining, stands
from compiler.workflow.fingerprint import check_secrets, run_for, still_to_do
from compiler.workflow.locks import Waiting, holder_of, locked
from compiler.workflow.refused import Locate
from compiler.workflow.starts import started_or_moved
from compiler.workflow.steps import StepResult, Steps

Progress = Callable[[str], None]


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
    locate: Locate | None = None,
    *,
    fresh: bool = False,
    lock_timeout: float = 0.0,
) -> Applied:
    """Carry out a plan. `secrets[work][name]` are the values to hand over again; `locate` tells
    where a refused work's fields are written (`locator`). `fresh` says that the plan was made by
    this very call and never applied before: then a target that went away since holds nothing
    of it, and the next candidate may be asked. `lock_timeout` is how many seconds to wait for
    another apply of the set.

    Raise PlanOutdated before anything is touched if the live state moved out of what the
    plan allows or a secret's value differs; LockHeld if another apply is at work. A step that
    this very plan finished earlier is recognised and left out.
    """
    if plan.set != stack.set_name:
        raise PlanOutdated([f"the plan is for set {plan.set!r}, the stack's is {stack.set_name!r}"])
    identity = plan_id(plan)
    changes = [change for change in plan.works if change.action.changes]
    if changes and not plan.applyable:
        raise WorkFailed("this plan cannot be applied: it does not know all that it would change")
    targets = sorted({change.target for change in all_candidates(changes)})
    gone = [key for key in targets if key not in stack.targets]
    if gone:
        raise PlanOutdated([f"the stack no longer has target {key!r}" for key in gone])
    check_secrets(list(all_candidates(changes)), stack, secrets)
    refused = tuple(change for change in plan.works if change.action is Action.REFUSED)
    deployers = {key: deployer_of(stack, stack.targets[key]) for key in targets}
    results: list[StepResult] = []
    followers: dict[int, Sequence[WorkChange]] = {}
    stuck: set[str] = set()  # works that could not leave where they were
    waiting = Waiting(lock_timeout, progress)
    with locked(deployers, holder_of(identity), waiting) as away:
        observations = _observed(deployers, away)
        standing = {id(item): remaining(item, observations, identity) for item in changes}
        current = [standing[id(change)][0] for change in changes]
        reachable = [change for change in current if change.target not in away]
        todo = {id(change) for change in still_to_do(reachable, observations, identity)}
        steps = Steps(stack, identity, secrets, deployers, observations, away, progress, locate)
        ordered = _in_order(changes)

        def in_the_way(change: WorkChange) -> StepResult | None:
            first, *others = standing[id(change)]
            found = _skipped(first, away, stuck)
            if found is not None or fresh or stands(first, observations, identity):
                return found
            # A run of an earlier apply of this plan may be on any target that does not answer.
            unknown = (away[item.target] for item in others if item.target in away)
            return next((StepResult(first, error=error) for error in unknown), None)

        free = [standing[id(item)][0] for item in ordered if in_the_way(item) is None]
        together = steps.together([first for first in free if id(first) in todo])
        for change in ordered:
            first, *others = standing[id(change)]
            result = in_the_way(change)
            if result is None and id(first) not in todo:
                last = run_for(first, observations)
                record = last.record if last else None
                result = StepResult(first, record, note="done by an earlier apply")
            if result is None:
                result = together.get(id(first)) or steps.step(first)
            may_be_elsewhere = not fresh and any(
                item.target in away for item in standing[id(change)]
            )
            if others and not may_be_elsewhere:
                result = steps.go_on(result, others)
                followers[len(results)] = following_of(result.change, others)
            if result.error is not None and change.action is Action.DELETE:
                stuck.add(change.work)
            results.append(result)
        results = started_or_moved(results, followers, steps)
    return Applied(tuple(results), refused)


def _observed(
    deployers: Mapping[str, Deployer], away: dict[str, TargetUnreachable]
) -> dict[str, Observation]:
    """What is there now; a target that has gone meanwhile is added to `away`."""
    seen = {}
    for key, deployer in deployers.items():
        if key in away:
            continue
        try:
            seen[key] = deployer.observe()
        except TargetUnreachable as error:
            away[key] = error
    return seen


def _skipped(
    change: WorkChange, away: Mapping[str, TargetUnreachable], stuck: set[str]
) -> StepResult | None:
    """Why a change is not carried out, if anything stands in its way."""
    if change.target in away:
        return StepResult(change, error=away[change.target])
    if change.work in stuck and change.action is not Action.DELETE:
        stays = WorkFailed(f"{change.work} stays where it is: its earlier step failed")
        return StepResult(change, error=stays)
    return None


def _in_order(changes: list[WorkChange]) -> list[WorkChange]:
    """Deletions first where they free the way for a move, else in the plan's order. A target's
    own files are there before the works that stand on them, and go after them; so do volumes
    with what mounts them."""

    def place(change: WorkChange) -> int:
        belongs_to_target = change.work.startswith("_")
        is_volume = change.record is not None and change.record.lifecycle is Lifecycle.VOLUME
        if change.action is Action.DELETE:
            return 5 if belongs_to_target else 1 if is_volume else 0
        return 2 if belongs_to_target else 3 if is_volume else 4

    return sorted(changes, key=place)
