"""Ending a run, and removing what it consists of."""

from __future__ import annotations

import dataclasses

from compiler.diagnostics import PlanOutdated
from compiler.planning.records import Record, Stage
from compiler.planning.states import RunState
from compiler.targets.aws.deployer import observe
from compiler.targets.aws.deployer.project import PROJECT_KEY
from compiler.targets.aws.deployer.site import Site
from compiler.targets.interface import Progress


def end_run(
    site: Site, run_key: str, *, only_pending: bool, progress: Progress
) -> observe.Seen | None:
    """End a run, whatever it is doing, and write down how it ended.

    What it was asked to is noted first (an outcome before the end: `states.is_cancelling`), the
    end only when its nodes are gone: whatever stops this half-way, the run stays live until
    somebody cancels it again or the next apply takes its nodes away.

    Returns the run as it was seen, None if nothing is known of it. With `only_pending`, raise
    PlanOutdated if it has started (and leave it alone).
    """
    found = observe.look(site, run_key)
    observe.settle(site, found)
    if not found:
        return None
    seen = found[0]
    if not seen.verdict.state.is_live:
        return seen
    if only_pending and seen.verdict.state is not RunState.PENDING:
        moved = f"{site.target}: {run_key} is {seen.verdict.state}, it was pending"
        raise PlanOutdated([moved])
    stored = site.store.find(run_key) or seen.stored
    asked = dataclasses.replace(stored.record, outcome=str(RunState.CANCELLED), exit_code=None)
    stored = site.store.write(stored, asked)
    tear_down(site, asked, progress)
    site.store.write(stored, dataclasses.replace(asked, stage=Stage.ENDED))
    return seen


def tear_down(site: Site, record: Record, progress: Progress) -> None:
    """Delete everything that the engine made for a run; harmless where nothing is left."""
    programs = site.store.programs()
    program, project = programs.get(record.run_key), programs.get(PROJECT_KEY)
    if program is None or project is None:
        return
    released = [record.name] if program.is_volume else []
    runs = {record.name: program}
    if released:  # the engine needs what mounts it, too
        runs |= observe.live_programs(observe.look(site), programs)
    with site.engine(project.files, runs, released) as engine:
        own = engine.urn_of(*program.urn_in(record.name))
        if any(item.urn == own for item in engine.recorded()):
            if released:
                engine.up(progress, targets=[own])
            engine.destroy(progress, targets=[own])
    site.store.drop_program(record.run_key)
