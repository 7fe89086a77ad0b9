"""Planning the removal of what a set owns."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics import WrongUsage
from compiler.model import Stack
from compiler.planning.changes import removal_change
from compiler.planning.outcomes import Action, Decision
from compiler.planning.plan import Plan, WorkChange
from compiler.planning.records import Lifecycle
from compiler.planning.states import REMOVED, ObservedRun, RunState
from compiler.source import suggest
from compiler.workflow import places
from compiler.workflow.desired import PROJECT
from compiler.workflow.joining import plan_endings
from compiler.workflow.loading import Loaded
from compiler.workflow.observe import look
from compiler.workflow.planner import Planned
from compiler.workflow.set_changes import staying_works


def plan_destroy(
    stack: Stack,
    names: Sequence[str] = (),
    *,
    only: Sequence[str] = (),
    delete_volumes: bool = False,
) -> Planned:
    """A plan of deletions: every recorded run of the set, or of the works `names`.

    Live runs are cancelled, with a group's what joined it; records of work that ended stay.
    Volumes stay without `delete_volumes`. A target's own files go with its last work. Raise
    WrongUsage for a name that the set does not know, or a target that the stack does not.
    """
    world = look(stack, only=only)
    world.close()
    runs = [(key, run) for key, run in world.runs() if world.may_change(key)]
    _require_known(names, {run.record.work for _, run in runs if _is_there(run)})
    works = [
        _removal(run, delete_volumes)
        for _, run in runs
        if _is_there(run)
        and not run.record.work.startswith("_")
        and (not names or run.record.work in names)
    ]
    works.extend(plan_endings(world, works))
    for _, run in runs:
        observation = world.observations[run.record.target]
        here = [change for change in works if change.target == run.record.target]
        if run.record.work == PROJECT and not staying_works(observation, here):
            works.append(_removal(run, delete_volumes))
    plan = Plan(
        set=stack.set_name,
        stack=places.shown(stack.origin.document.source.path, stack),
        scope="destroy",
        inputs={},
        arguments={
            "names": list(names),
            "delete_volumes": delete_volumes,
            **({"requester": stack.requester} if stack.requester else {}),
        },
        noted={},
        works=tuple(sorted(works, key=lambda change: (change.work, change.target, change.run))),
        targets=world.targets,
    )
    return Planned(plan, world, Loaded())


def _is_there(run: ObservedRun) -> bool:
    """Whether anything is left to be removed."""
    ended = not run.state.is_live and run.state is not RunState.WRITTEN
    return run.record.outcome != REMOVED and bool(run.record.files or not ended)


def _removal(run: ObservedRun, delete_volumes: bool) -> WorkChange:
    if run.record.lifecycle is Lifecycle.VOLUME and not delete_volumes:
        reason = "a volume is kept with what it holds (--delete-volumes removes it)"
        kept = Decision(Action.NOOP, reason, run.record.run, frozenset(RunState))
        return removal_change(run, kept)
    what = "is cancelled" if run.state.is_live else "goes"
    reason = f"destroy: run {run.record.run} ({run.state}) {what}"
    here = frozenset((run.state,))
    return removal_change(run, Decision(Action.DELETE, reason, run.record.run, here))


def _require_known(names: Sequence[str], known: set[str]) -> None:
    works = sorted(name for name in known if not name.startswith("_"))
    for name in names:
        if name not in works:
            close = suggest(name, works)
            hint = f"; did you mean `{close}`?" if close else ""
            raise WrongUsage(f"the set has no work `{name}`{hint}")
