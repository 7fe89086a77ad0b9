"""Doing one step so that a kill at any point leaves it to be completed by the next call.

The order is always: the intent (a record that only one apply can create), what the Job needs,
the Job, the record with its uid. Every write can be repeated: applying the same again changes
nothing, and a Job of the run's name is the run's Job.
"""

from __future__ import annotations

import dataclasses

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.planning.records import Lifecycle, Record, Stage
from compiler.planning.states import REMOVED, ObservedRun, RunState
from compiler.targets.interface import Progress, Step
from compiler.targets.kubernetes.deployer import ending, owned, pending, rollout
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.deployer.objects import (
    Body,
    bodies,
    hand_over,
    require_ours,
    secret_name,
    send,
)
from compiler.targets.kubernetes.deployer.records import Stored
from compiler.targets.kubernetes.deployer.workloads import is_workload, workload_of


def execute(cluster: Cluster, step: Step, progress: Progress) -> Record:
    """The record as it is after the step. Raise PlanOutdated, WorkFailed, TargetUnreachable."""
    match step.action:
        case "create":
            return _create(cluster, step, progress, None)
        case "replace" if _keeps_number(step):
            return rollout.replace(cluster, step, progress)
        case "replace":
            return _create(cluster, step, progress, step.previous)
        case "update":
            return _update(cluster, step, progress)
        case "delete":
            return _delete(cluster, step, progress)
    raise WorkFailed(f"{cluster.target}: a run cannot be {step.action!r} on Kubernetes")


def _keeps_number(step: Step) -> bool:
    return step.previous is not None and step.previous.record.run == step.record.run


def _create(
    cluster: Cluster, step: Step, progress: Progress, previous: ObservedRun | None
) -> Record:
    objects = bodies(cluster, step.artifacts)
    refs = [ref for ref, _ in objects]
    main = workload_of(refs)
    if main is None:
        raise WorkFailed(f"{cluster.target}: nothing of {step.record.run_key} would run")
    stored = _reserve(cluster, step.record, refs, progress)
    if stored.record.stage is not Stage.INTENT:
        return stored.record
    if previous is not None:
        _make_way(cluster, step, previous, progress)
    _clear_abandoned(cluster, step.record, progress)
    cluster.inventory.include(refs)
    cluster.together(lambda ref: require_ours(cluster, ref), refs)
    hand_over(cluster, step, refs, progress)

    def apply(item: tuple[Ref, Body]) -> tuple[Ref, Body]:
        progress(f"apply {item[0].address}")
        return item[0], send(cluster, *item)

    # what runs comes last: all that it needs is there then
    answers = cluster.together(apply, (item for item in objects if item[0] != main))
    answers += [apply(item) for item in objects if item[0] == main]
    created = dataclasses.replace(
        step.record,
        stage=Stage.CREATED,
        identity=answers[-1][1]["metadata"]["uid"],
        outcome=None,
        files={ref.path: owned.digest(owned.canonical(answer)) for ref, answer in answers},
    )
    return cluster.records.write(stored, created, refs).record


def _reserve(cluster: Cluster, record: Record, refs: list[Ref], progress: Progress) -> Stored:
    intent = dataclasses.replace(record, stage=Stage.INTENT, identity=None, files={})
    progress(f"reserve run {record.run} of {record.work}")
    stored = cluster.records.create(intent, refs)
    if stored is not None:
        return stored
    stored = cluster.records.find(record.work, record.run)
    if stored is None or not _same_step(stored.record, record):
        taken = f"run {record.run} of {record.work} is taken"
        raise PlanOutdated([f"{cluster.target}: {taken}"])
    return stored


def _same_step(there: Record, record: Record) -> bool:
    """Whether the record was written by an earlier call for the same step."""
    return (there.set, there.target, there.work, there.name, there.plan, there.spec_digest) == (
        record.set,
        record.target,
        record.work,
        record.name,
        record.plan,
        record.spec_digest,
    )


def _make_way(cluster: Cluster, step: Step, previous: ObservedRun, progress: Progress) -> None:
    """End the run that is replaced, and remove it."""
    work, run = previous.record.work, previous.record.run
    only_pending = previous.state is RunState.PENDING
    seen = ending.end_run(cluster, work, run, only_pending=only_pending, progress=progress)
    if seen is None:
        return
    if only_pending and seen.verdict.state is not RunState.CANCELLED:
        was = f"run {run} of {work} is {seen.verdict.state}, it was pending"
        raise PlanOutdated([f"{cluster.target}: {was}"])
    ending.remove(cluster, seen.stored.objects, progress)


def _clear_abandoned(cluster: Cluster, record: Record, progress: Progress) -> None:
    """Remove what applies that were killed left of runs that are not there: their Job was never
    made, or cancelled to make way."""
    if record.run == 1:
        return
    for item in cluster.records.all():
        if item.record.work != record.work or item.record.run >= record.run:
            continue
        if item.record.stage is Stage.INTENT and not item.record.identity:
            seen = ending.one(cluster, item.record.work, item.record.run)
            if seen is not None and not seen.verdict.submitted:
                ending.remove_run(cluster, seen.stored, item.record.plan, progress)
        elif item.record.outcome == RunState.CANCELLED and item.objects:
            ending.remove(cluster, item.objects, progress)
            cluster.records.write(item, dataclasses.replace(item.record, files={}), ())


def _update(cluster: Cluster, step: Step, progress: Progress) -> Record:
    """Change a waiting run to the new task, or put back what was changed by hand on a live one;
    the plan has shown what that is."""
    stored = cluster.records.find(step.record.work, step.record.run)
    if stored is None:
        raise PlanOutdated([f"{cluster.target}: {step.record.run_key} is no longer recorded"])
    if step.record.lifecycle is not Lifecycle.RUN:
        return rollout.update(cluster, step, stored, progress)
    if step.fields:
        return pending.update(cluster, step, stored, progress)
    objects = bodies(cluster, step.artifacts)
    digests = {}
    for ref, body in objects:
        there = require_ours(cluster, ref)
        if there is None and is_workload(ref):
            raise PlanOutdated([f"{cluster.target}: {ref.address} is gone"])
        progress(f"apply {ref.address}")
        answer = send(cluster, ref, body, force=True)
        digests[ref.path] = owned.digest(owned.canonical(answer))
    record = dataclasses.replace(
        stored.record,
        files={**stored.record.files, **digests},
        plan=step.record.plan,
    )
    return cluster.records.write(stored, record).record


def _delete(cluster: Cluster, step: Step, progress: Progress) -> Record:
    """End the run if it is live and remove its objects, and those of earlier runs of the work.

    The record turns into an intent first, so that the same plan knows what it had begun.
    """
    work, run = step.record.work, step.record.run
    seen = ending.one(cluster, work, run)
    if seen is None:
        return dataclasses.replace(step.record, stage=Stage.ENDED)
    if seen.verdict.state.is_live:
        begun = dataclasses.replace(seen.record, stage=Stage.INTENT, plan=step.record.plan)
        cluster.records.write(seen.stored, begun)
        only_pending = step.previous is not None and step.previous.state is RunState.PENDING
        seen = ending.end_run(cluster, work, run, only_pending=only_pending, progress=progress)
        assert seen is not None
    record = ending.remove_run(cluster, seen.stored, step.record.plan, progress)
    others = [item for item in cluster.records.all() if item.record.work == work]
    for item in others:
        ended = item.record.stage is Stage.ENDED and not item.record.extra
        if ended and item.record.run < run and item.record.outcome != REMOVED:
            ending.remove(cluster, item.objects, progress)
            cluster.records.write(item, dataclasses.replace(item.record, files={}), ())
    still = [
        item for item in others if item.record.run != run and item.record.stage.value != "ended"
    ]
    if not still:
        namespaces = {ref.namespace for ref in seen.stored.objects} or {cluster.home}
        name = secret_name(cluster, step.record)
        ending.remove(
            cluster, [Ref("v1", "Secret", item, name) for item in sorted(namespaces)], progress
        )
    return record
