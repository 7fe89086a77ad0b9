"""What the engine makes of one run or volume, and what of it is really there."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from compiler.diagnostics import WorkFailed
from compiler.planning.records import Lifecycle, Record, Stage
from compiler.targets.aws.deployer import observe
from compiler.targets.aws.deployer.nodes import nodes_of, terminate
from compiler.targets.aws.deployer.project import PROJECT_KEY
from compiler.targets.aws.deployer.records import Program, StoredRecord
from compiler.targets.aws.deployer.site import Site
from compiler.targets.interface import Progress
from compiler.targets.pulumi.engine import Outcome


def bring_up(site: Site, stored: StoredRecord, program: Program, progress: Progress) -> Record:
    """The engine's update for one run, and what it made written down."""
    record, programs = stored.record, site.store.programs()
    project = programs.get(PROJECT_KEY)
    if project is None:
        raise WorkFailed(f"{site.target}: the project's own files are not there; plan again")
    seen = observe.look(site)
    live = observe.live_programs(seen, programs) | {record.name: program}
    ended = {
        item.record.run_key: programs[item.record.run_key].urn_in(item.record.name)
        for item in seen
        if not item.is_wanted and item.record.run_key in programs
        if not item.is_project and item.record.name not in live
        # What is left of a volume is its own next step's.
        if item.record.lifecycle is not Lifecycle.VOLUME
    }
    with site.engine(project.files, live) as engine:
        own = engine.urn_of(*program.urn_in(record.name))
        left = {engine.urn_of(kind, name) for kind, name in ended.values()}
        if left:
            left &= {item.urn for item in engine.recorded()}
        outcome = engine.up(progress, targets=[own, *sorted(left)])
    for key in ended:
        site.store.drop_program(key)
    return _written(site, stored, program, outcome)


def _written(site: Site, stored: StoredRecord, program: Program, outcome: Outcome) -> Record:
    made: Mapping = outcome.outputs.get(stored.record.name) or {}
    image = made.get("image")
    locked = dataclasses.replace(program, image=str(image) if image else program.image)
    site.store.keep_program(stored.record.run_key, locked)
    ids = [made["volume"]] if "volume" in made else made.get("instances") or ()
    identity = ",".join(map(str, ids))
    created = dataclasses.replace(
        stored.record, stage=Stage.CREATED, identity=identity or None, outcome=None
    )
    return site.store.write(stored, created).record


def read_back(site: Site, record: Record, program: Program, progress: Progress) -> None:
    """Bring the engine's state to what is really there of the run."""
    project = site.store.programs()[PROJECT_KEY]
    with site.engine(project.files, {record.name: program}) as engine:
        own = engine.urn_of(*program.urn_in(record.name))
        there = [item for item in engine.recorded() if own in (item.urn, item.parent)]
        nodes = (nodes_of(site.account, site.owner) or {}).get(record.run_key, [])
        known = {item.id for item in there}
        orphans = [node.id for node in nodes if node.is_there and node.id not in known]
        if orphans:
            progress(f"terminate {', '.join(orphans)}, which an apply made and lost sight of")
            terminate(site.account, orphans)
        if there:
            engine.refresh(targets=[item.urn for item in there])
