"""Planning the removal of what a set owns."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics import WrongUsage
from compiler.model import Stack
from compiler.planning.changes import removal_change
from compiler.planning.outcomes import Action, Decision
from compiler.planning.plan import Plan, WorkChange
from compiler.planning.states import RunState
from compiler.source import suggest
from compiler.workflow.loading import Loaded
from compiler.workflow.observe import look
from compiler.workflow.planner import Planned


def plan_destroy(stack: Stack, names: Sequence[str] = (), *, only: Sequence[str] = ()) -> Planned:
    """A plan of deletions: every recorded run of the set, or of the works `names`.

    Live runs are cancelled; records of work that ended stay. Raise WrongUsage for a name
    that the set does not know.
    """
    world = look(stack, only=only)
    known = {run.record.work for _, run in world.runs()}
    for name in names:
        if name not in known:
            close = suggest(name, sorted(known))
            hint = f"; did you mean `{close}`?" if close else ""
            raise WrongUsage(f"the set has no work `{name}`{hint}")
    works: list[WorkChange] = []
    for _, run in world.runs():
        record = run.record
        if names and record.work not in names:
            continue
        ended = not run.state.is_live and run.state is not RunState.WRITTEN
        if record.outcome == "removed" or (ended and not record.files):
            continue
        what = "is cancelled" if run.state.is_live else "goes"
        decision = Decision(
            Action.DELETE,
            f"destroy: run {record.run} ({run.state}) {what}",
            record.run,
            frozenset((run.state,)),
        )
        works.append(removal_change(run, decision))
    plan = Plan(
        set=stack.set_name,
        stack=stack.origin.document.source.path,
        scope="destroy",
        inputs={},
        arguments={"names": list(names)},
        noted={},
        works=tuple(works),
        targets=world.targets,
    )
    return Planned(plan, world, Loaded())
