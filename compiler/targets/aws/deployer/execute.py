"""Doing one step so that a kill at any point leaves it to be completed by the next call.

The order is always: the intent (a record that only one apply can create), files and secrets,
the program, the engine's update, the record with the instances. The engine can be run again
at any time: what it made before is in its state.
"""

from __future__ import annotations

import dataclasses

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.planning.records import Lifecycle, Record, Stage
from compiler.planning.states import REMOVED, ObservedRun, RunState
from compiler.targets.aws.deployer import ending, observe, project_steps, secrets, volumes
from compiler.targets.aws.deployer.bringing import bring_up, read_back
from compiler.targets.aws.deployer.project import PROJECT_KEY, program_of
from compiler.targets.aws.deployer.records import StoredRecord
from compiler.targets.aws.deployer.site import Site
from compiler.targets.aws.deployer.uploads import upload
from compiler.targets.interface import Progress, Step


def execute(site: Site, step: Step, progress: Progress) -> Record:
    """The record as it is after the step. Raise PlanOutdated, WorkFailed, TargetUnreachable."""
    if step.record.run_key == PROJECT_KEY:
        return project_steps.execute(site, step, progress)
    if step.record.lifecycle is Lifecycle.VOLUME and step.action in ("update", "replace"):
        return volumes.execute(site, step, progress)
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
    return bring_up(site, stored, program, progress)


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
    read_back(site, stored.record, program, progress)
    return bring_up(site, stored, program, progress)


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
