"""What runs now: status, logs, wait, cancel, and whether the targets answer."""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from compiler.diagnostics import TargetUnreachable, TriplaneError, WrongUsage
from compiler.model import Stack
from compiler.planning.records import Lifecycle
from compiler.planning.states import REMOVED, ObservedRun, RunState
from compiler.source import suggest
from compiler.targets.registry import deployer_of
from compiler.workflow.joining import live_members
from compiler.workflow.observe import World, look


@dataclass(frozen=True, slots=True)
class RunStatus:
    """One run as `status` shows it."""

    work: str
    run: int
    target: str
    name: str
    state: RunState
    detail: str
    exit_code: int | None
    identity: str | None
    extra: bool


@dataclass(frozen=True, slots=True)
class Status:
    """All runs, and the targets that were asked in vain with their reasons."""

    runs: tuple[RunStatus, ...]
    silent: dict[str, str]


def status(stack: Stack, names: Sequence[str] = (), *, only: Sequence[str] = ()) -> Status:
    """Every recorded run of the set with its live state; `names` restricts the works."""
    world = look(stack, only=only, with_artifacts=False)
    shown = [
        RunStatus(
            work=run.record.work,
            run=run.record.run,
            target=key,
            name=run.record.name,
            state=run.state,
            detail=run.detail,
            exit_code=run.exit_code,
            identity=run.record.identity,
            extra=run.record.extra,
        )
        for key, run in _there(world)
        if world.may_change(key)
    ]
    if names:
        _require_known(names, {item.work for item in shown}, world)
        shown = [item for item in shown if item.work in names]
    shown.sort(key=lambda item: (item.work, item.run, item.target))
    world.close()
    return Status(tuple(shown), world.unreachable)


class Waited(enum.IntEnum):
    """The exit codes of `triplane wait`, and of nothing else."""

    SUCCEEDED = 0
    FAILED = 100
    NOT_FINISHED = 101
    UNKNOWN = 102
    CANCELLED = 103


def wait(
    stack: Stack,
    names: Sequence[str],
    *,
    until: str = "finished",
    timeout: float | None = None,
    interval: float = 2.0,
    progress: Callable[[str], None] = lambda _: None,
    sleep: Callable[[float], None] = time.sleep,
) -> Waited:
    """Wait until the last runs of `names` (default: all) are `running` or `finished`.

    The last runs are those of the apply (or `triplane run --num-jobs`) that came last, and
    whatever else is live. `timeout` and `interval` in seconds. What was written to a directory
    is unknown: whoever submits it is not triplane.
    """
    deadline = None if timeout is None else time.monotonic() + timeout
    shown: dict[str, str] = {}
    world = World()
    while True:
        world = look(stack, with_artifacts=False, known=world.deployers)
        if world.silent and not names:  # any of them may hold work to be waited for
            key, why = next(iter(world.silent.items()))
            raise TargetUnreachable(key, why)
        awaited = [run for name in names or sorted(_known(world)) for run in _last(world, name)]
        for run in awaited:
            line = f"{run.record.work}: run {run.record.run} {run.state} {run.detail}".rstrip()
            if shown.get(run.record.run_key) != line:
                shown[run.record.run_key] = line
                progress(line)
        verdict = _verdict([_awaited_state(run) for run in awaited], until)
        late = deadline is not None and time.monotonic() >= deadline
        if verdict is not Waited.NOT_FINISHED or late:
            world.close()
            return verdict
        sleep(interval)


def logs(
    stack: Stack,
    name: str,
    *,
    run: int | None = None,
    follow: bool = True,
    tail: int | None = None,
) -> Iterable[str]:
    """Lines of all ranks of the last (or the given) run of a work."""
    world = look(stack, with_artifacts=False)
    key, found = one_run(world, name, run)
    return world.deployers[key].logs(found, follow=follow, tail=tail)


def cancel(stack: Stack, names: Sequence[str]) -> list[tuple[str, TriplaneError | None]]:
    """End the live runs of `names`, with a group's what joined it; returns (what, error) for
    each. Raise WrongUsage for a volume."""
    world = look(stack, with_artifacts=False)
    found = []
    for name in dict.fromkeys(names):  # all of them before any is ended
        key, run = one_run(world, name, None)
        if run.record.lifecycle is Lifecycle.VOLUME:
            raise WrongUsage(f"`{name}` is a volume: triplane destroy --delete-volumes {name}")
        found += [(key, run), *live_members(world, run)]
    results: list[tuple[str, TriplaneError | None]] = []
    for key, run in {(key, run.record.run_key): (key, run) for key, run in found}.values():
        what = f"{run.record.work} run {run.record.run} on {key}"
        if not run.state.is_live and run.state is not RunState.WRITTEN:
            results.append((f"{what} has ended ({run.state})", None))
            continue
        try:
            world.deployers[key].cancel(run)
            results.append((f"{what} cancelled", None))
        except TriplaneError as error:
            results.append((what, error))
    world.close()
    return results


def check(stack: Stack) -> list[tuple[str, str, TriplaneError | None]]:
    """(target key, what it said, error) for each target of the stack."""
    answers: list[tuple[str, str, TriplaneError | None]] = []
    for key, spec in stack.targets.items():
        try:
            deployer = deployer_of(stack, spec)
            answers.append((key, deployer.check(), None))
            deployer.close()
        except TriplaneError as error:
            answers.append((key, "", error))
    return answers


def unlock(stack: Stack) -> list[tuple[str, str | None, TriplaneError | None]]:
    """Break the locks of all targets; (target key, who held it, error) for each."""
    answers: list[tuple[str, str | None, TriplaneError | None]] = []
    for key, spec in stack.targets.items():
        try:
            deployer = deployer_of(stack, spec)
            answers.append((key, deployer.break_lock(), None))
            deployer.close()
        except TriplaneError as error:
            answers.append((key, None, error))
    return answers


def _last(world: World, name: str) -> list[ObservedRun]:
    """The newest run of a work, those that the same plan started, and all that are live."""
    _require_known([name], _known(world), world)
    runs = [run for _, run in _there(world) if run.record.work == name]
    newest = max(runs, key=lambda run: run.record.run)
    plan = newest.record.plan
    return [
        run
        for run in runs
        if run is newest or run.state.is_live or (plan and run.record.plan == plan)
    ]


def _awaited_state(run: ObservedRun) -> RunState:
    """What does not end is waited for until it serves; a claim may wait for its first pod."""
    lifecycle, state = run.record.lifecycle, run.state
    serves = lifecycle is Lifecycle.SERVICE and state is RunState.RUNNING
    is_made = lifecycle is Lifecycle.VOLUME and state.is_live
    return RunState.SUCCEEDED if serves or is_made else state


def _verdict(states: Sequence[RunState], until: str) -> Waited:
    waiting = {RunState.PENDING} if until == "running" else {RunState.PENDING, RunState.RUNNING}
    if any(state in waiting for state in states):
        return Waited.NOT_FINISHED
    if any(state in (RunState.UNKNOWN, RunState.WRITTEN) for state in states):
        return Waited.UNKNOWN
    if any(state is RunState.CANCELLED for state in states):
        return Waited.CANCELLED
    if any(state.is_unsuccessful for state in states):
        return Waited.FAILED
    return Waited.SUCCEEDED


def one_run(world: World, name: str, number: int | None) -> tuple[str, ObservedRun]:
    """The last declared run, else the last that was added by hand; or the run `number`."""
    _require_known([name], _known(world), world)
    if number is None:
        key, found = world.last_run(name)
        if key is not None and found is not None:
            return key, found
    runs = [(key, run) for key, run in _there(world) if run.record.work == name]
    if number is not None:
        runs = [(key, run) for key, run in runs if run.record.run == number]
    if not runs:
        raise WrongUsage(f"{name} has no run {number}")
    return max(runs, key=lambda item: item[1].record.run)


def _there(world: World) -> Iterable[tuple[str, ObservedRun]]:
    """Runs of works, without those whose files were retired."""
    for key, run in world.runs():
        if not run.record.work.startswith("_") and run.record.outcome != REMOVED:
            yield key, run


def _known(world: World) -> set[str]:
    return {run.record.work for _, run in _there(world)}


def _require_known(names: Sequence[str], known: set[str], world: World) -> None:
    for name in names:
        if name in known:
            continue
        if world.silent:
            key, why = next(iter(world.silent.items()))
            raise TargetUnreachable(key, f"{why} (so nothing is known of `{name}`)")
        close = suggest(name, sorted(known))
        hint = f"; did you mean `{close}`?" if close else ""
        raise WrongUsage(f"no run of `{name}` is recorded in this set{hint}")
