"""Ending a run, being sure that it is gone, and removing what it consisted of."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, RunState
from compiler.targets.interface import Progress
from compiler.targets.kubernetes.deployer import observe
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.deployer.records import Stored
from compiler.targets.kubernetes.deployer.refusals import ApiRefused
from compiler.targets.kubernetes.deployer.workloads import CLAIM, is_workload

# The grace period of the pods is a minute, and a node may take its time.
GONE_WITHIN_SECONDS = 300
_POLL_SECONDS = 0.5


def end_run(
    cluster: Cluster, work: str, run: int, *, only_pending: bool, progress: Progress
) -> observe.Seen | None:
    """End the Job of a run, whatever it is doing, and write down how it ended.

    Returns the run as it then is, None if nothing is known of it. With `only_pending`, raise
    PlanOutdated if it has started (and leave it alone).
    """
    seen = one(cluster, work, run)
    if seen is None or not seen.verdict.state.is_live:
        return seen
    if only_pending and seen.verdict.state is not RunState.PENDING:
        was = f"run {run} of {work} is {seen.verdict.state}, it was pending"
        raise PlanOutdated([f"{cluster.target}: {was}"])
    # The outcome first: should this stop half-way, whoever looks next knows why it is gone.
    decided = dataclasses.replace(seen.record, outcome=str(RunState.CANCELLED))
    stored = cluster.records.write(seen.stored, decided)
    jobs = [ref for ref in stored.objects if is_workload(ref)]
    remove(cluster, jobs, progress)
    closed = dataclasses.replace(decided, stage=Stage.ENDED)
    if seen.record.stage is Stage.INTENT:
        closed = decided  # it is being removed; the last step closes it
    cluster.records.write(stored, closed)
    return one(cluster, work, run)


def remove(cluster: Cluster, refs: Iterable[Ref], progress: Progress) -> None:
    """Delete objects and return when they, the pods of what runs and claims are gone."""
    waited = []
    for ref in refs:
        if not _is_ours(cluster, ref):
            continue
        progress(f"delete {ref.address}")
        is_waited = is_workload(ref) or ref.kind == CLAIM
        policy = "Foreground" if is_workload(ref) else "Background"
        try:
            cluster.client.call("DELETE", cluster.kinds.path(ref), {"propagationPolicy": policy})
        except ApiRefused as error:
            if error.status != 404:
                raise
            continue
        if is_waited:
            waited.append(ref)
    deadline = time.monotonic() + GONE_WITHIN_SECONDS
    for ref in waited:
        while cluster.client.find(cluster.kinds.path(ref)) is not None:
            if time.monotonic() > deadline:
                raise WorkFailed(
                    f"{cluster.target}: {ref.address} is still there {GONE_WITHIN_SECONDS} s "
                    "after it was deleted; try again when it is gone"
                )
            time.sleep(_POLL_SECONDS)


def remove_run(cluster: Cluster, stored: Stored, plan: str, progress: Progress) -> Record:
    """Remove the objects of a run that has ended; its record stays and keeps its number taken."""
    remove(cluster, stored.objects, progress)
    gone = dataclasses.replace(
        stored.record, stage=Stage.ENDED, outcome=REMOVED, files={}, plan=plan
    )
    cluster.records.write(stored, gone, ())
    return gone


def one(cluster: Cluster, work: str, run: int) -> observe.Seen | None:
    stored = cluster.records.find(work, run)
    if stored is None:
        return None
    seen = observe.look(cluster, [stored], artifacts=False)
    observe.settle(cluster, seen)
    again = cluster.records.find(work, run)
    return None if again is None else dataclasses.replace(seen[0], stored=again)


def _is_ours(cluster: Cluster, ref: Ref) -> bool:
    """Whether the object is there and a member of the set."""
    from compiler.targets.kubernetes.deployer.owned import PART_OF

    there = cluster.client.find(cluster.kinds.path(ref))
    labels = (there or {}).get("metadata", {}).get("labels") or {}
    return labels.get(PART_OF) == cluster.inventory.id
