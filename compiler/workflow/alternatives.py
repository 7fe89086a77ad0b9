"""Where a new run goes on to, if its target refuses it or does not start it in time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from compiler.diagnostics import Diagnostics
from compiler.model import Deployer
from compiler.placement import Placement, Row
from compiler.planning.changes import Desired, work_change
from compiler.planning.outcomes import Action, Decision
from compiler.planning.plan import WorkChange
from compiler.targets.interface import Job
from compiler.targets.registry import merge_keys_of, target_of
from compiler.workflow.desired import placement_row
from compiler.workflow.observe import World
from compiler.workflow.prepare import Prepared
from compiler.workflow.prices import priced

Make = Callable[[Row, int, Diagnostics], tuple[Job, Desired]]
"""Renders the work for a candidate, under a run number."""


@dataclass(frozen=True, slots=True)
class Following:
    """The candidates after the one that was chosen, each with its own run number: `changes`, and
    the row of each."""

    changes: tuple[WorkChange, ...] = ()
    rows: tuple[Row, ...] = ()


def following(
    change: WorkChange,
    prepared: Prepared,
    placement: Placement,
    world: World,
    make: Make,
    apart: int = 1,
) -> Following:
    """What to try after `change`, a new run, in the order of the candidate table.

    Their run numbers lie `apart`, so that as many runs can each have theirs. Files are written
    wherever they are to be, so directories are no alternatives, and have none.
    """
    chosen = placement.chosen
    if chosen is None or chosen.target.deployer is Deployer.DIRECTORY:
        return Following()
    changes: list[WorkChange] = []
    rows: list[Row] = []
    for row in placement.rows:
        key = row.target.key
        asked = world.may_change(key) and key in world.observations
        is_other = row.is_possible and row is not chosen
        if not (is_other and asked) or row.target.deployer is Deployer.DIRECTORY:
            continue
        run = change.run + apart * (len(changes) + 1)
        said = Diagnostics()
        job, desired = make(row, run, said)
        if said.has_errors:
            continue
        reason = "the next candidate, if those before it do not take it"
        decision = Decision(Action.CREATE, reason, run, frozenset((None,)))
        item = work_change(desired, None, decision, merge_keys_of(row.target))
        here = replace(placement_row(row, placement), chosen=True)
        item = replace(item, placement=(here,), start_within=start_within(job))
        changes.append(priced(item, prepared, row, desired.artifacts))
        rows.append(row)
    return Following(tuple(changes), tuple(rows))


def start_within(job: Job) -> int | None:
    """Seconds that the work may wait for its start, None where nobody set a limit: the shortest
    that its tasks ask for."""
    ask = getattr(target_of(job.target.kind), "start_within", None)
    limits = [] if ask is None else [ask(part) for part in job.members or (job,)]
    return min((limit for limit in limits if limit is not None), default=None)
