"""Doing one step so that a kill at any point leaves it to be completed by the next call.

The order is always: the intent (a record that only one apply can create), what the Job needs,
the Job, the record with its uid. Every write can be repeated: applying the same again changes
nothing, and a Job of the run's name is the run's Job.
"""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.diagnostics.codes.kubernetes_deploy import OWNED
from compiler.model import names
from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, ObservedRun, RunState
from compiler.rendering.artifact import Artifact
from compiler.targets.interface import Progress, Step
from compiler.targets.kubernetes.deployer import ending, owned
from compiler.targets.kubernetes.deployer.client import APPLY, MANAGER
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.deployer.records import Stored
from compiler.targets.kubernetes.deployer.workloads import is_workload, workload_of
from compiler.targets.kubernetes.metadata import MANAGED_BY, SET_LABEL, WORK_LABEL

_Body = dict[str, Any]


def execute(cluster: Cluster, step: Step, progress: Progress) -> Record:
    """The record as it is after the step. Raise PlanOutdated, WorkFailed, TargetUnreachable."""
    match step.action:
        case "create":
            return _create(cluster, step, progress, None)
        case "replace":
            return _create(cluster, step, progress, step.previous)
        case "update":
            return _update(cluster, step, progress)
        case "delete":
            return _delete(cluster, step, progress)
    raise WorkFailed(f"{cluster.target}: a run cannot be {step.action!r} on Kubernetes")


def bodies(cluster: Cluster, artifacts: Iterable[Artifact]) -> list[tuple[Ref, _Body]]:
    """The objects as they are sent: with their namespace, and marked as members of the set."""
    found = []
    for artifact in artifacts:
        body = yaml.load(artifact.text, Loader=_Loader)
        ref = Ref.of(body, cluster.home, artifact.path)
        meta = body["metadata"]
        meta["namespace"] = ref.namespace
        meta["labels"] = {**(meta.get("labels") or {}), owned.PART_OF: cluster.inventory.id}
        found.append((ref, body))
    return found


def send(cluster: Cluster, ref: Ref, body: _Body, *, dry: bool = False, force: bool = False):
    """Apply one object; the answer is the object as it then is (or would be)."""
    query = {"fieldManager": MANAGER, "fieldValidation": "Strict"}
    if dry:
        query["dryRun"] = "All"
    if force:
        query["force"] = "true"
    return cluster.client.call("PATCH", cluster.kinds.path(ref), body, APPLY, **query)


def require_ours(cluster: Cluster, ref: Ref) -> _Body | None:
    """The live object, None for none. Raise WorkFailed if it is somebody else's."""
    there = cluster.client.find(cluster.kinds.path(ref))
    if there is None:
        return None
    labels = there["metadata"].get("labels") or {}
    if labels.get(owned.PART_OF) == cluster.inventory.id:
        return there
    owner = labels.get(SET_LABEL) or labels.get(owned.PART_OF)
    who = f"set {owner!r}" if labels.get(SET_LABEL) else owner
    who = who or ", ".join(owned.other_managers(there)) or "somebody else"
    words = f"{ref.address} in namespace {ref.namespace} exists and belongs to {who}"
    said = OWNED.at(None, words, target=cluster.target)
    raise WorkFailed(f"{cluster.target}: {words}", diagnostics=(said,))


def _create(
    cluster: Cluster, step: Step, progress: Progress, previous: ObservedRun | None
) -> Record:
    objects = bodies(cluster, step.artifacts)
    refs = [ref for ref, _ in objects]
    if workload_of(refs) is None:
        raise WorkFailed(f"{cluster.target}: nothing of {step.record.run_key} would run")
    stored = _reserve(cluster, step.record, refs, progress)
    if stored.record.stage is not Stage.INTENT:
        return stored.record
    if previous is not None:
        _make_way(cluster, step, previous, progress)
    _clear_abandoned(cluster, step.record, progress)
    cluster.inventory.include(refs)
    for ref in refs:
        require_ours(cluster, ref)
    _hand_over(cluster, step, refs, progress)
    digests, identity = {}, None
    for ref, body in objects:
        progress(f"apply {ref.address}")
        answer = send(cluster, ref, body)
        digests[ref.path] = owned.digest(owned.canonical(answer))
        if is_workload(ref):
            identity = answer["metadata"]["uid"]
    created = dataclasses.replace(
        step.record, stage=Stage.CREATED, identity=identity, outcome=None, files=digests
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
    """Remove what applies that were killed left of runs whose Job they never made."""
    for item in cluster.records.all():
        is_older = item.record.work == record.work and item.record.run < record.run
        if not is_older or item.record.stage is not Stage.INTENT or item.record.identity:
            continue
        seen = ending.one(cluster, item.record.work, item.record.run)
        if seen is not None and not seen.verdict.submitted:
            ending.remove_run(cluster, seen.stored, item.record.plan, progress)


def _hand_over(cluster: Cluster, step: Step, refs: list[Ref], progress: Progress) -> None:
    """The Secret with the values of this apply, beside the Job; outside every record."""
    if not step.secret_values:
        return
    namespace = next(ref.namespace for ref in refs if is_workload(ref))
    name = _secret_name(cluster, step.record)
    ref = Ref("v1", "Secret", namespace, name)
    require_ours(cluster, ref)
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {
                MANAGED_BY: "triplane",
                SET_LABEL: names.cut(cluster.set_name, 63),
                WORK_LABEL: names.cut(step.record.work, 63),
                owned.PART_OF: cluster.inventory.id,
            },
        },
        "data": _encoded(step.secret_values),
    }
    progress(f"hand over {ref.address}")
    cluster.inventory.include([*refs, ref])
    send(cluster, ref, body, force=True)


def _encoded(values: Mapping[str, str]) -> dict[str, str]:
    return {
        name: base64.b64encode(value.encode()).decode() for name, value in sorted(values.items())
    }


def _secret_name(cluster: Cluster, record: Record) -> str:
    return f"{names.work_label(cluster.set_name, record.work)}-secrets"


def _update(cluster: Cluster, step: Step, progress: Progress) -> Record:
    """Change a waiting run to the new task, or put back what was changed by hand on a live one;
    the plan has shown what that is."""
    from compiler.targets.kubernetes.deployer import pending

    stored = cluster.records.find(step.record.work, step.record.run)
    if stored is None:
        raise PlanOutdated([f"{cluster.target}: {step.record.run_key} is no longer recorded"])
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
        name = _secret_name(cluster, step.record)
        ending.remove(
            cluster, [Ref("v1", "Secret", item, name) for item in sorted(namespaces)], progress
        )
    return record


_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
