"""Asking the targets: each once, and none that is away blocks the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from compiler.diagnostics import InvalidInput, TargetUnreachable, WorkFailed
from compiler.model import Deployer as DeployerKind
from compiler.model import Stack, TargetSpec
from compiler.planning.plan import Skipped, TargetState
from compiler.planning.states import Observation, ObservedRun
from compiler.targets.interface import Deployer
from compiler.targets.registry import deployer_of
from compiler.workflow.arguments import require_targets
from compiler.workflow.outputs import outputs_unfit


@dataclass(frozen=True, slots=True)
class World:
    """What the targets of a stack said; nothing is known of one without an observation.

    `targets` says which of them may be changed: a directory that `--target` left out is
    observed, and not asked.
    """

    deployers: Mapping[str, Deployer] = field(default_factory=dict)
    observations: Mapping[str, Observation] = field(default_factory=dict)
    free: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    targets: tuple[TargetState, ...] = ()

    def last_run(self, work: str) -> tuple[str | None, ObservedRun | None]:
        """(target key, latest declared run) of a work over all targets; a live one wins."""
        found = [
            (key, run)
            for key, observation in self.observations.items()
            if (run := observation.last_run(work)) is not None
        ]
        if not found:
            return None, None
        return max(found, key=lambda item: (item[1].state.is_live, item[1].record.run))

    def highest_run(self, work: str) -> int:
        return max((seen.highest_run(work) for seen in self.observations.values()), default=0)

    def runs(self) -> Iterable[tuple[str, ObservedRun]]:
        for key, observation in self.observations.items():
            for run in observation.runs:
                yield key, run

    def close(self) -> None:
        """Give back the connections; whoever asks again gets new ones."""
        for deployer in self.deployers.values():
            deployer.close()

    def may_change(self, key: str) -> bool:
        """Whether a target was asked, and is not only looked at."""
        return any(state.target == key and state.asked for state in self.targets)

    @property
    def unreachable(self) -> dict[str, str]:
        """Targets that were asked in vain, with the reason."""
        return {
            state.target: state.reason
            for state in self.targets
            if state.skipped is Skipped.UNREACHABLE
        }

    @property
    def silent(self) -> dict[str, str]:
        """Targets of which nothing is known, with the reason."""
        return {
            state.target: state.reason
            for state in self.targets
            if state.target not in self.observations
        }


def look(
    stack: Stack,
    *,
    only: Sequence[str] = (),
    offline: bool = False,
    with_artifacts: bool = True,
    with_capacity: bool = False,
    parallel: int = 8,
    known: Mapping[str, Deployer] | None = None,
    read_only: bool = False,
) -> World:
    """Observe every target of the stack at once; `only` and `offline` leave some out.

    Directories left out by `only` are looked at all the same, as that costs nothing and tells
    where work is. `known` are deployers of an earlier look, whose connections are used again;
    `read_only` as for `deployer_of`.
    Raise WrongUsage for a target that the stack does not have, InvalidInput for a directory
    that is no folder.
    """
    require_targets(only, stack)
    wanted: list[TargetSpec] = []
    skipped: dict[str, tuple[Skipped, str]] = {}
    for key, spec in stack.targets.items():
        if only and key not in only:
            skipped[key] = (Skipped.FILTER, "left out by --target")
        elif offline and spec.deployer is not DeployerKind.DIRECTORY:
            skipped[key] = (Skipped.OFFLINE, "not asked (--offline)")
        if key not in skipped or spec.deployer is DeployerKind.DIRECTORY:
            wanted.append(spec)

    unfit = list(outputs_unfit(stack, wanted))
    if unfit:
        raise InvalidInput(unfit)

    def ask(spec: TargetSpec):
        try:
            deployer = (known or {}).get(spec.key) or deployer_of(stack, spec, read_only=read_only)
        except WorkFailed as error:  # this version has no deployer for it
            return None, None, None, str(error)
        try:
            observation = deployer.observe(with_artifacts)
            capacity = deployer.capacity() if with_capacity else None
        except TargetUnreachable as error:
            return deployer, None, None, error.reason
        return deployer, observation, capacity, ""

    if len(wanted) > 1:
        with ThreadPoolExecutor(max_workers=max(1, parallel)) as pool:
            answers = list(pool.map(ask, wanted))
    else:
        answers = [ask(spec) for spec in wanted]
    deployers, observations, free = {}, {}, {}
    for spec, (deployer, observation, capacity, reason) in zip(wanted, answers, strict=True):
        if deployer is not None:
            deployers[spec.key] = deployer
        if observation is None:
            skipped.setdefault(spec.key, (Skipped.UNREACHABLE, reason))
            continue
        observations[spec.key] = observation
        if capacity is not None:
            free[spec.key] = dict(capacity.free)
    states = tuple(TargetState(key, *skipped.get(key, (None, ""))) for key in stack.targets)
    return World(deployers, observations, free, states)
