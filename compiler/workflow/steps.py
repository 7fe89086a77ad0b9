"""The steps of an apply: one change, several at once, and the next candidate after a refusal."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from compiler.diagnostics import PlanOutdated, TargetUnreachable, TriplaneError, WorkFailed
from compiler.model import Stack
from compiler.planning.outcomes import Action
from compiler.planning.plan import WorkChange
from compiler.planning.records import Record
from compiler.planning.states import Observation, ObservedRun
from compiler.targets.interface import Deployer, Step
from compiler.workflow import places
from compiler.workflow.failover import give_up, is_refusal
from compiler.workflow.fingerprint import previous_of, still_to_do
from compiler.workflow.refused import Locate, placed

Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class StepResult:
    """How one change ended: `record` where it was carried out, `error` where it was not."""

    change: WorkChange
    record: Record | None = None
    error: TriplaneError | None = None
    note: str = ""


@dataclass(frozen=True)
class Steps:
    """Carries out the changes of one plan, on targets that are locked for it."""

    stack: Stack
    identity: str
    secrets: Mapping[str, Mapping[str, str]]
    deployers: Mapping[str, Deployer]
    observations: Mapping[str, Observation]
    away: Mapping[str, TargetUnreachable]
    progress: Progress
    locate: Locate | None
    written: set[str] = field(default_factory=set)  # addresses of `needs`

    def step(self, change: WorkChange) -> StepResult:
        """Carry out one change, after what its target needs to have first."""
        for need in change.needs:
            failed = None if need.address in self.written else self._write(need).error
            if failed is not None:
                return StepResult(change, error=failed)
            self.written.add(need.address)
        self.progress(f"{change.address}: {change.action} run {change.run}")
        deployer = self.deployers[change.target]
        try:
            return StepResult(change, deployer.execute(self._step(change), self.progress))
        except TriplaneError as error:
            return StepResult(change, error=placed(error, change, self.locate))

    def together(self, changes: Sequence[WorkChange]) -> dict[int, StepResult]:
        """New works that wait for no other change, carried out at once where a deployer can; by
        the change's id."""
        waits = {change.work for change in changes if change.action is not Action.CREATE}
        found: dict[int, StepResult] = {}
        for key, deployer in self.deployers.items():
            create_all = getattr(deployer, "create_all", None)
            mine = [item for item in changes if item.target == key and item.work not in waits]
            if create_all is None or len(mine) < 2:
                continue
            steps = [self._step(change) for change in mine]
            by_step = {id(step): change for step, change in zip(steps, mine, strict=True)}
            for step, came in create_all(steps, self.progress):
                change = by_step[id(step)]
                if isinstance(came, TriplaneError):
                    error = placed(came, change, self.locate)
                    found[id(change)] = StepResult(change, error=error)
                else:
                    found[id(change)] = StepResult(change, came)
        return found

    def _step(self, change: WorkChange) -> Step:
        values = self.secrets.get(change.work, {})
        observation = self.observations[change.target]
        return _step(change, self.stack, observation, self.identity, values)

    def go_on(
        self,
        result: StepResult,
        others: Sequence[WorkChange],
        pending: ObservedRun | None = None,
    ) -> StepResult:
        """The result of the first candidate that takes the work, or of the last that did not.

        `pending` is the run of the first one where it was accepted and did not start. Raise
        PlanOutdated if it has started meanwhile.
        """
        said: list[str] = []
        for following in others:
            was_away = result.change.target in self.away
            if not was_away and not is_refusal(result.error):
                break
            said.append(f"{result.change.target}: {result.error}")
            if not was_away:
                deployer = self.deployers[result.change.target]
                left = give_up(result.change, deployer, self.identity, self.progress, pending)
                if pending is not None and isinstance(left, PlanOutdated):
                    raise left
                if left is not None:
                    words = f"{result.error}; what it left there cannot be closed: {left}"
                    return StepResult(result.change, error=WorkFailed(words))
            self.progress(
                f"{result.change.address}: run {result.change.run} is given up, moving on to "
                f"{following.target}"
            )
            result, pending = self.on(following), None
        if said and result.error is None:
            return replace(result, note="; ".join(filter(None, (*said, result.note))))
        return result

    def _write(self, need: WorkChange) -> StepResult:
        try:
            todo = still_to_do([need], self.observations, self.identity)
        except PlanOutdated as error:
            return StepResult(need, error=error)
        return self.step(need) if todo else StepResult(need)

    def on(self, change: WorkChange) -> StepResult:
        """A candidate that is asked because those before it refused."""
        if change.target in self.away:
            return StepResult(change, error=self.away[change.target])
        try:
            still_to_do([change], self.observations, self.identity)
        except PlanOutdated as error:
            return StepResult(change, error=error)
        return self.step(change)


def _step(
    change: WorkChange,
    stack: Stack,
    observation: Observation,
    identity: str,
    secret_values: Mapping[str, str],
) -> Step:
    assert change.record is not None
    return Step(
        action=str(change.action),
        record=replace(change.record, plan=identity),
        artifacts=tuple(item.artifact for item in change.objects if item.artifact is not None),
        previous=previous_of(change, observation),
        uploads=tuple(places.here(tree, stack) for tree in change.uploads),
        secret_values={name: secret_values[name] for name in change.secrets},
        fields=change.fields,
    )
