"""Tasks that join a running group: each is work of its own, tied to the group's run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from compiler.diagnostics import TargetUnreachable, WrongUsage
from compiler.planning import digests
from compiler.planning.changes import removal_change
from compiler.planning.outcomes import Action, Decision
from compiler.planning.plan import WorkChange
from compiler.planning.states import ObservedRun, RunState
from compiler.targets.interface import JoinedGroup
from compiler.workflow.loading import Loaded
from compiler.workflow.observe import World
from compiler.workflow.prepare import Prepared


def joining(loaded: Loaded, group: str) -> Loaded:
    """The same with every task joining `group`; as work it is called `<group>-<task>`.

    Raise WrongUsage for what cannot join: only a task alone can.
    """
    works = []
    for work in loaded.works:
        if work.task is None:
            raise WrongUsage(f"--group: a {work.called} (`{work.name}`) cannot join a group")
        if work.task.service is not None or work.task.pool is not None:
            raise WrongUsage(f"--group: `{work.name}` does not end, so it cannot join a group")
        works.append(replace(work, name=f"{group}-{work.name}", joins=group))
    return replace(loaded, works=tuple(works))


def joined_group(group: str, world: World) -> tuple[str, JoinedGroup]:
    """(the target's key, the run) of the group, which must be there and not have ended."""
    at, last = world.last_run(group)
    if at is None or last is None or not last.record.members:
        if world.silent:
            key, why = next(iter(world.silent.items()))
            raise TargetUnreachable(key, f"{why} (so nothing is known of group `{group}`)")
        raise WrongUsage(f"no group `{group}` is recorded in this set, so nothing can join it")
    if not last.state.is_live and last.state is not RunState.WRITTEN:
        run = last.record.run
        raise WrongUsage(f"run {run} of group `{group}` has ended ({last.state}): nothing to join")
    return at, JoinedGroup(group, last.record.run, last.record.members)


def joining_to(
    group: str | None, only: Sequence[str], world: World
) -> tuple[JoinedGroup | None, tuple[str, ...]]:
    """The run of the group that is joined, if one is, and the targets that work may go to."""
    if group is None:
        return None, tuple(only)
    at, joins = joined_group(group, world)
    if only and at not in only:
        raise WrongUsage(f"group `{group}` is on {at}, which --target leaves out")
    return joins, (at,)


def joined(prepared: Prepared, to: JoinedGroup) -> Prepared:
    """The work as one of this run of the group: for another run it is other work."""
    spec = dict(sorted({**prepared.spec, **digests.joined_field(to.name, to.run)}.items()))
    (member,) = prepared.members
    return replace(prepared, spec=spec, members=(replace(member, spec=spec),))


def run_key(to: JoinedGroup) -> str:
    """What the record of a joined run says it is tied to: the `Record.run_key` of the group."""
    return f"{to.name}.{to.run}"


def live_members(world: World, run: ObservedRun) -> Iterator[tuple[str, ObservedRun]]:
    """(target key, run) of what joined this run of a group and has not ended."""
    for key, other in world.runs():
        is_tied = key == run.record.target and other.record.joins == run.record.run_key
        if is_tied and other.state.is_live:
            yield key, other


def plan_endings(world: World, changes: Sequence[WorkChange]) -> Iterable[WorkChange]:
    """What joined a group goes with it: with the run that is replaced or removed."""
    planned = {(item.target, item.work, item.run) for item in changes}
    for change in changes:
        if change.action not in (Action.DELETE, Action.REPLACE) or change.last_run is None:
            continue
        for key, run in world.runs():
            record = run.record
            tied_to = f"{change.work}.{change.last_run}"
            is_tied = key == change.target and record.joins == tied_to
            is_there = run.state.is_live or (run.state is RunState.WRITTEN and record.files)
            if is_tied and is_there and (key, record.work, record.run) not in planned:
                reason = f"run {change.last_run} of `{change.work}`, which it joined, ends"
                here = frozenset((run.state,))
                yield removal_change(run, Decision(Action.DELETE, reason, record.run, here))
