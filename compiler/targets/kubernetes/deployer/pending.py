"""Changing a run that waits: a suspended Job takes what it has not begun with, and keeps its age.

What the API server lets change on a Job that never started depends on its version (places,
sizes, labels, the number of ranks), so it is asked. The scripts lie in ConfigMaps that are
immutable: they are replaced, and while one is gone no pod can start.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from compiler.diagnostics import PlanOutdated
from compiler.planning.records import Record, Stage
from compiler.planning.states import ObservedRun
from compiler.rendering.artifact import Artifact
from compiler.targets.interface import Progress, Step
from compiler.targets.kubernetes.deployer import owned
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.deployer.objects import bodies, hand_over, require_ours, send
from compiler.targets.kubernetes.deployer.records import Stored
from compiler.targets.kubernetes.deployer.refusals import ApiRefused
from compiler.targets.kubernetes.deployer.workloads import Workload, is_workload, workload_of
from compiler.targets.kubernetes.metadata import FILES_DIGEST, SPEC_DIGEST

_Body = dict[str, Any]


def fields(
    cluster: Cluster, run: ObservedRun, artifacts: Iterable[Artifact]
) -> dict[str, str] | None:
    """What marks the waiting run as one of these artifacts; None where the server would not
    make one of it."""
    objects = bodies(cluster, artifacts)
    ran = workload_of(ref for ref, _ in objects)
    there = cluster.client.find(cluster.kinds.path(ran)) if ran is not None else None
    if there is None or not _waits(there, run.record):
        return None
    try:
        for ref, body in objects:
            if not is_immutable(body):
                send(cluster, ref, body, dry=True, force=True)
    except ApiRefused:
        return None  # a replacement it is, and the plan says what it is refused for
    return {
        key: value
        for ref, body in objects
        if ref == ran
        for key, value in (body["metadata"].get("annotations") or {}).items()
        if key in (SPEC_DIGEST, FILES_DIGEST)
    }


def is_immutable(body: _Body) -> bool:
    return body.get("immutable") is True


def update(cluster: Cluster, step: Step, stored: Stored, progress: Progress) -> Record:
    """Make the waiting run one of the step's artifacts. Raise PlanOutdated if it has started."""
    objects = bodies(cluster, step.artifacts)
    fixed = [(ref, body) for ref, body in objects if is_immutable(body)]
    others = [(ref, body) for ref, body in objects if not is_immutable(body)]
    refs = [ref for ref, _ in objects]
    cluster.inventory.include(refs)
    for ref in refs:
        require_ours(cluster, ref)
    hand_over(cluster, step, refs, progress)
    removed = _take_away(cluster, fixed, progress)
    digests: dict[str, str] = {}
    try:
        for ref, body in sorted(others, key=lambda item: not is_workload(item[0])):
            progress(f"apply {ref.address}")
            if is_workload(ref):
                _require_waiting(cluster, ref, stored.record)
            digests[ref.path] = _digest(send(cluster, ref, body, force=True))
    except (ApiRefused, PlanOutdated) as error:
        for ref, body in removed:
            send(cluster, ref, body, force=True)
        if isinstance(error, PlanOutdated) or error.status == 422:
            said = f"run {step.record.run} of {step.record.work} can no longer be changed"
            raise PlanOutdated([f"{cluster.target}: {said}: {error}"]) from None
        raise
    for ref, body in fixed:
        progress(f"apply {ref.address}")
        digests[ref.path] = _digest(send(cluster, ref, body))
    changed = dataclasses.replace(
        step.record, stage=Stage.CREATED, identity=stored.record.identity, files=digests
    )
    older = [dataclasses.replace(ref, path="") for ref in stored.objects if ref not in refs]
    return cluster.records.write(stored, changed, [*refs, *older]).record


def _waits(there: _Body, record: Record) -> bool:
    what = Workload.of(there)
    started = (there.get("status") or {}).get("startTime")
    return what.uid == record.identity and what.is_suspended and not started and not what.is_going


def _require_waiting(cluster: Cluster, ref: Ref, record: Record) -> None:
    there = cluster.client.find(cluster.kinds.path(ref))
    if there is None or not _waits(there, record):
        raise PlanOutdated([f"{ref.address} is no longer waiting"])


def _take_away(
    cluster: Cluster, fixed: Iterable[tuple[Ref, _Body]], progress: Progress
) -> list[tuple[Ref, _Body]]:
    """Delete those that are to be others; returns what they were, to be put back."""
    removed: list[tuple[Ref, _Body]] = []
    for ref, body in fixed:
        there = require_ours(cluster, ref)
        if there is None or _same_data(there, body):
            continue
        progress(f"delete {ref.address}")
        cluster.client.call("DELETE", cluster.kinds.path(ref))
        before = owned.owned(there)
        removed.append((ref, before))
    return removed


def _same_data(there: _Body, body: _Body) -> bool:
    return all(there.get(key) == body.get(key) for key in ("data", "binaryData"))


def _digest(answer: _Body) -> str:
    return owned.digest(owned.canonical(answer))
