"""Steps of the project's own files: what all runs of the target use."""

from __future__ import annotations

import dataclasses

from compiler.diagnostics import PlanOutdated
from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED
from compiler.targets.aws.deployer import observe
from compiler.targets.aws.deployer.project import program_of
from compiler.targets.aws.deployer.site import Site
from compiler.targets.interface import Progress, Step


def execute(site: Site, step: Step, progress: Progress) -> Record:
    """Store the files, and let live runs have what changed in them; or take all away."""
    if step.action == "delete":
        return _delete(site, step.record, progress)
    intent = dataclasses.replace(step.record, stage=Stage.INTENT)
    there = site.store.find(intent.run_key)
    stored = site.store.write(there, intent) if there else site.store.create(intent)
    if stored is None:
        raise PlanOutdated([f"{site.target}: the project's files were made meanwhile"])
    program = program_of(step.artifacts)
    site.store.keep_program(intent.run_key, program)
    live = observe.live_programs(observe.look(site), site.store.programs())
    if live:
        with site.engine(program.files, live) as engine:
            there_now = {item.urn for item in engine.recorded()}
            targets = [engine.urn_of(*item.urn_in(name)) for name, item in sorted(live.items())]
            targets = [urn for urn in targets if urn in there_now]
            if targets:
                engine.up(progress, targets=targets)
    return site.store.write(stored, dataclasses.replace(intent, stage=Stage.CREATED)).record


def _delete(site: Site, record: Record, progress: Progress) -> Record:
    """The last thing of a set: whatever the engine still has goes, and so does its stack."""
    gone = dataclasses.replace(record, stage=Stage.ENDED, outcome=REMOVED, files={})
    program = site.store.programs().get(record.run_key)
    if program is not None:
        with site.engine(program.files, {}) as engine:
            engine.destroy(progress)
            engine.remove()
        for key in site.store.program_keys():
            site.store.drop_program(key)
    site.store.remove(record)
    return gone
