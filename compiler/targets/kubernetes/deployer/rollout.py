"""Changing what does not end, in place: a service rolls, a claim grows.

What an earlier version of a service consisted of stays for one version more, as its replicas are
still there while the new ones come; then it goes.
"""

from __future__ import annotations

import dataclasses

from compiler.diagnostics import PlanOutdated
from compiler.planning.records import Record, Stage
from compiler.targets.interface import Progress, Step
from compiler.targets.kubernetes.deployer import ending, owned
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.objects import bodies, hand_over, require_ours, send
from compiler.targets.kubernetes.deployer.records import Stored
from compiler.targets.kubernetes.deployer.workloads import CLAIM, workload_of


def update(cluster: Cluster, step: Step, stored: Stored, progress: Progress) -> Record:
    """Apply the step's artifacts, whatever of them is there; the record as it then is.

    Where a plan only puts back what was changed by hand, the artifacts are not all of them.
    """
    objects = bodies(cluster, step.artifacts)
    refs = [ref for ref, _ in objects]
    is_whole = step.record.files.keys() <= {ref.path for ref in refs}
    known = [*stored.objects, *(ref for ref in refs if ref not in stored.objects)]
    # written before anything is made, so that nothing is forgotten
    stored = cluster.records.write(stored, stored.record, known)
    cluster.inventory.include(refs)
    for ref in refs:
        require_ours(cluster, ref)
    hand_over(cluster, step, refs, progress)
    digests, identity = dict(stored.record.files), stored.record.identity
    main = workload_of(known)
    for ref, body in objects:
        progress(f"apply {ref.address}")
        answer = send(cluster, ref, body, force=True)
        digests[ref.path] = owned.digest(owned.canonical(answer))
        if ref == main:
            identity = answer["metadata"]["uid"]
    if not is_whole:
        return cluster.records.write(
            stored, dataclasses.replace(stored.record, files=digests, plan=step.record.plan), known
        ).record
    paths = {ref.path for ref in refs}
    record = dataclasses.replace(
        step.record,
        stage=Stage.CREATED,
        identity=identity,
        outcome=None,
        exit_code=None,
        files={path: digest for path, digest in digests.items() if path in paths},
    )
    before = [ref for ref in stored.objects if ref not in refs]
    # a claim holds data: it goes with the work, and not before
    older = [ref for ref in before if not ref.path and ref.kind != CLAIM]
    kept = [dataclasses.replace(ref, path="") for ref in before if ref not in older]
    stored = cluster.records.write(stored, record, [*refs, *kept])
    ending.remove(cluster, older, progress)
    return stored.record


def replace(cluster: Cluster, step: Step, progress: Progress) -> Record:
    """Delete a volume with what it holds and make it anew; it keeps its number."""
    stored = cluster.records.find(step.record.work, step.record.run)
    if stored is None:
        raise PlanOutdated([f"{cluster.target}: {step.record.run_key} is no longer recorded"])
    # should this stop half-way, there is nothing of it, and the next apply makes it
    intent = dataclasses.replace(step.record, stage=Stage.INTENT, identity=None, files={})
    stored = cluster.records.write(stored, intent)
    ending.remove(cluster, stored.objects, progress)
    return update(cluster, step, stored, progress)
