"""Doing one step so that a kill at any point leaves it to be completed by the next call.

The order is always: the intent (a record that only one apply can create), files and secrets,
the program, the engine's update, the record with the instances. The engine can be run again
at any time: what it made before is in its state.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, ObservedRun, RunState
from compiler.targets.aws.deployer import ending, observe, project_steps, secrets
from compiler.targets.aws.deployer.nodes import nodes_of, terminate
from compiler.targets.aws.deployer.project import COMPONENT, PROJECT_KEY, program_of
from compiler.targets.aws.deployer.records import Program, StoredRecord
from compiler.targets.aws.deployer.site import Site
from compiler.targets.aws.deployer.uploads import upload
from compiler.targets.interface import Progress, Step
from compiler.targets.pulumi.engine import Engine, Outcome


def execute(site: Site, step: Step, progress: Progress) -> Record:
    """The record as it is after the step. Raise PlanOutdated, WorkFailed, TargetUnreachable."""
    if step.record.run_key == PROJECT_KEY:
        return project_steps.execute(site, step, progress)
    match step.action:
        case "create" | "replace":
            return _create(site, step, progress)
        case "update":
            return _heal(site, step, progress)
        case "delete":
            return _delete(site, step, progress)
    raise WorkFailed(f"{site.target}: a run cannot be {step.action!r} on AWS")


def _create(site: Site, step: Step, progress: Progress) -> Record:
    stored = _reserve(site, step.record, progress)
    if stored.record.stage is not Stage.INTENT:
        return stored.record
    if step.action == "replace" and step.previous is not None:
        _make_way(site, step.previous, progress)
    for tree in step.uploads:
        upload(site, tree, progress)
    secrets.hand_over(site, step.secret_values, progress)
    program = program_of(step.artifacts)
    site.store.keep_program(stored.record.run_key, program)
    return _bring_up(site, stored, program, progress)


def _bring_up(site: Site, stored: StoredRecord, program: Program, progress: Progress) -> Record:
    """The engine's update for one run, and what it made written down."""
    record, programs = stored.record, site.store.programs()
    project = programs.get(PROJECT_KEY)
    if project is None:
        raise WorkFailed(f"{site.target}: the project's own files are not there; plan again")
    seen = observe.look(site)
    live = observe.live_programs(seen, programs) | {record.name: program}
    ended = {
        item.record.run_key: item.record.name
        for item in seen
        if not item.is_wanted and item.record.run_key in programs
        if not item.is_project and item.record.name not in live
    }
    with site.engine(project.files, live) as engine:
        outcome = engine.up(progress, targets=_targets(engine, record.name, ended.values()))
    for key in ended:
        site.store.drop_program(key)
    return _written(site, stored, program, outcome)


def _targets(engine: Engine, name: str, ended) -> list[str]:
    """The run's component, and those that ended runs have left in the state."""
    own = engine.urn_of(COMPONENT, name)
    left = {engine.urn_of(COMPONENT, other) for other in ended}
    if left:
        left &= {item.urn for item in engine.recorded()}
    return [own, *sorted(left)]


def _written(site: Site, stored: StoredRecord, program: Program, outcome: Outcome) -> Record:
    made: Mapping = outcome.outputs.get(stored.record.name) or {}
    image = made.get("image")
    locked = dataclasses.replace(program, image=str(image) if image else program.image)
    site.store.keep_program(stored.record.run_key, locked)
    identity = ",".join(str(item) for item in made.get("instances") or ())
    created = dataclasses.replace(
        stored.record, stage=Stage.CREATED, identity=identity or None, outcome=None
    )
    return site.store.write(stored, created).record


def _reserve(site: Site, record: Record, progress: Progress) -> StoredRecord:
    intent = dataclasses.replace(record, stage=Stage.INTENT, identity=None)
    progress(f"reserve run {record.run} of {record.work}")
    stored = site.store.create(intent)
    if stored is not None:
        return stored
    stored = site.store.find(record.run_key)
    if stored is None or not _same_step(stored.record, record):
        taken = f"run {record.run} of {record.work} is taken"
        raise PlanOutdated([f"{site.target}: {taken}"])
    return stored


def _same_step(there: Record, record: Record) -> bool:
    """Whether the record was written by an earlier call for the same step."""
    return (there.name, there.plan, there.spec_digest) == (
        record.name,
        record.plan,
        record.spec_digest,
    )


def _make_way(site: Site, previous: ObservedRun, progress: Progress) -> None:
    only_pending = previous.state is RunState.PENDING
    ending.end_run(site, previous.record.run_key, only_pending=only_pending, progress=progress)


def _heal(site: Site, step: Step, progress: Progress) -> Record:
    """Complete what an apply did not finish, and put back what was changed by hand.

    A run that has ended meanwhile is left alone: its nodes must not come back.
    """
    key = step.record.run_key
    found = observe.look(site, key)
    program = site.store.programs().get(key)
    if not found or program is None:
        raise PlanOutdated([f"{site.target}: run {key} is no longer recorded"])
    observe.settle(site, found)
    seen = found[0]
    stored = site.store.find(key) or seen.stored
    planned = dataclasses.replace(stored.record, plan=step.record.plan)
    if not seen.is_wanted:
        return site.store.write(stored, planned).record
    intent = dataclasses.replace(planned, stage=Stage.INTENT, identity=None)
    stored = site.store.write(stored, intent)
    for tree in step.uploads:
        upload(site, tree, progress)
    secrets.hand_over(site, step.secret_values, progress)
    _read_back(site, stored.record, program, progress)
    return _bring_up(site, stored, program, progress)


def _read_back(site: Site, record: Record, program: Program, progress: Progress) -> None:
    """Bring the engine's state to what is really there of the run."""
    project = site.store.programs()[PROJECT_KEY]
    with site.engine(project.files, {record.name: program}) as engine:
        own = engine.urn_of(COMPONENT, record.name)
        there = [item for item in engine.recorded() if own in (item.urn, item.parent)]
        nodes = (nodes_of(site.account, site.owner) or {}).get(record.run_key, [])
        known = {item.id for item in there}
        orphans = [node.id for node in nodes if node.is_there and node.id not in known]
        if orphans:
            progress(f"terminate {', '.join(orphans)}, which an apply made and lost sight of")
            terminate(site.account, orphans)
        if there:
            engine.refresh(targets=[item.urn for item in there])


def _delete(site: Site, step: Step, progress: Progress) -> Record:
    """End the run if it is live, remove what it consists of; the record stays.

    The record turns into an intent first, so that the same plan knows what it had begun.
    """
    key = step.record.run_key
    stored = site.store.find(key)
    if stored is None:
        return dataclasses.replace(step.record, stage=Stage.ENDED)
    begun = dataclasses.replace(stored.record, stage=Stage.INTENT, plan=step.record.plan)
    site.store.write(stored, begun)
    ending.tear_down(site, begun, progress)
    left = site.store.find(key)
    assert left is not None
    gone = dataclasses.replace(
        left.record, stage=Stage.ENDED, outcome=REMOVED, files={}, plan=step.record.plan
    )
    secrets.take_back(site, gone)
    return site.store.write(left, gone).record
