"""Looking at a cluster: every run of a set, and writing down what has ended since."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compiler.diagnostics import PlanOutdated
from compiler.model import names
from compiler.planning.records import Lifecycle, Record, Stage
from compiler.planning.states import REMOVED, Observation, ObservedRun, RunState
from compiler.targets.kubernetes.deployer import lost, owned
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.deployer.records import Stored
from compiler.targets.kubernetes.deployer.refusals import ApiRefused
from compiler.targets.kubernetes.deployer.states import Verdict, classify
from compiler.targets.kubernetes.deployer.workloads import (
    CLAIM,
    NOTE,
    current,
    is_suspended,
    key_of,
    key_of_pod,
    workload_of,
)
from compiler.targets.kubernetes.metadata import FILES_DIGEST, SPEC_DIGEST

_END = ("Job", "JobSet")


@dataclass(frozen=True, slots=True)
class Seen:
    """One run: what is stored, the record as it should be now, the verdict, the live Job."""

    stored: Stored
    record: Record
    verdict: Verdict
    job: Mapping[str, Any] | None
    texts: Mapping[str, str]


def observation(cluster: Cluster, *, artifacts: bool, writes: bool = True) -> Observation:
    """What the workflow is told; unless `writes` is False, what has ended is written down."""
    stored = cluster.records.all()
    stored = sorted(
        [*stored, *lost.restored(cluster, stored)],
        key=lambda item: (item.record.work, item.record.run),
    )
    seen = look(cluster, stored, artifacts=artifacts)
    if writes:
        settle(cluster, seen)
    return Observation(cluster.target, tuple(_observed(cluster, item) for item in seen))


def look(cluster: Cluster, stored: Iterable[Stored], *, artifacts: bool) -> list[Seen]:
    """The state of every stored run, by a few lists over all of them."""
    stored = tuple(stored)
    open_runs = [item for item in stored if item.record.stage is not Stage.ENDED]
    running = {item.name: ref for item in stored if (ref := _what_runs(item))}
    wanted = {running[item.name] for item in open_runs if item.name in running}
    wanted_now = frozenset(wanted)
    # An apply that was killed had no time to write down what the objects have become.
    begun = {item.name for item in open_runs if item.record.identity is None}
    with_texts = [item for item in stored if artifacts or item.name in begun]
    wanted |= {ref for item in with_texts for ref in item.objects}
    live = cluster.live(sorted(wanted, key=lambda ref: (ref.namespace, ref.kind, ref.name)))
    pods = _pods(cluster, {ref.namespace for ref in wanted_now})
    workloads: dict[str, Mapping[str, Mapping[str, Any]]] = {}
    seen = []
    for item in stored:
        job_ref = running.get(item.name)
        job = live.get(job_ref) if job_ref else None
        workload, events = None, []
        of_job: Sequence[Mapping[str, Any]] = ()
        if item.record.stage is not Stage.ENDED and job_ref is not None:
            namespace = job_ref.namespace
            key = key_of(job_ref, names.cut(item.record.work, 63))
            of_job = pods.get((namespace, *key), [])
            uid = job["metadata"]["uid"] if job else item.record.identity
            if job is not None:
                of_job = current(of_job, job)
                if is_suspended(job):
                    if namespace not in workloads:
                        workloads[namespace] = cluster.workloads(namespace)
                    workload = workloads[namespace].get(uid or "")
            if uid and not of_job and _is_told_by_events(item.record, job):
                events = cluster.events_of(namespace, uid)
        verdict = classify(item.record, job, of_job, workload, events)
        texts = {
            ref.path: owned.canonical(live[ref])
            for ref in item.objects
            if ref.path and ref in live and (artifacts or item.name in begun)
        }
        record = _as_it_should_be(item.record, job, verdict, texts)
        seen.append(Seen(item, record, verdict, job, texts))
    return seen


def _what_runs(stored: Stored) -> Ref | None:
    ref = workload_of(stored.objects)
    if ref is not None and ref.kind == NOTE and stored.record.lifecycle is not Lifecycle.VOLUME:
        # Record and Job are lost: what is left are the scripts, and no note of a volume.
        return None
    return ref


def _is_told_by_events(record: Record, job: Mapping[str, Any] | None) -> bool:
    """Whether what happened to an object without pods says more than the object itself."""
    if job is None:
        return record.lifecycle is Lifecycle.RUN
    if job.get("kind") == CLAIM:
        return (job.get("status") or {}).get("phase") != "Bound"
    return job.get("kind") in _END and not is_suspended(job)


def settle(cluster: Cluster, seen: Iterable[Seen]) -> None:
    """Close records of what has ended. Whoever may only read goes on without."""
    for item in seen:
        is_written = item.record == item.stored.record and item.stored.version
        if not item.verdict.submitted or is_written:
            continue
        try:
            if item.stored.version:
                cluster.records.write(item.stored, item.record)
            else:
                cluster.records.create(item.record, item.stored.objects)
        except PlanOutdated:
            continue  # somebody else was faster
        except ApiRefused as error:
            if not error.is_forbidden:
                raise
            return


def _pods(
    cluster: Cluster, namespaces: Iterable[str]
) -> dict[tuple[str, str, str], list[dict[str, Any]]]:
    """Pods of the set by (namespace, kind and name of what they belong to)."""
    found: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for namespace in sorted(namespaces):
        for pod in cluster.listed("v1", "Pod", namespace):
            found.setdefault((namespace, *key_of_pod(pod)), []).append(pod)
    return found


def _as_it_should_be(
    record: Record,
    job: Mapping[str, Any] | None,
    verdict: Verdict,
    texts: Mapping[str, str],
) -> Record:
    if record.stage is Stage.ENDED:
        return record
    if not verdict.submitted:
        # Nothing but its number is taken; the plan that took it may go on with it.
        return dataclasses.replace(record, outcome=REMOVED)
    if record.stage is Stage.INTENT and record.identity is not None:
        return record  # it is being removed: whoever began that comes back for it
    if record.identity is None and job is not None:
        files = {path: owned.digest(text) for path, text in texts.items()}
        record = dataclasses.replace(record, identity=job["metadata"]["uid"], files=files)
    if job is not None and job["metadata"]["uid"] == record.identity:
        record = _as_it_was_changed(record, job)
    if verdict.final:
        return dataclasses.replace(
            record, stage=Stage.ENDED, outcome=str(verdict.state), exit_code=verdict.exit_code
        )
    return dataclasses.replace(record, stage=Stage.CREATED, outcome=record.outcome)


def _as_it_was_changed(record: Record, job: Mapping[str, Any]) -> Record:
    """An update in place may have been killed between the Job and its record."""
    annotations = job["metadata"].get("annotations") or {}
    is_now = annotations.get(SPEC_DIGEST), annotations.get(FILES_DIGEST)
    if None in is_now or not record.spec_digest:
        return record
    if is_now == (record.spec_digest, record.files_digest):
        return record
    return dataclasses.replace(
        record, spec_digest=str(is_now[0]), files_digest=str(is_now[1]), spec={}
    )


def _observed(cluster: Cluster, item: Seen) -> ObservedRun:
    verdict = item.verdict
    waiting = None
    if verdict.state is RunState.PENDING and item.job is not None:
        waiting = _age(item.job, cluster.client.server_time)
    return ObservedRun(
        record=item.record,
        state=verdict.state,
        detail=verdict.detail,
        exit_code=verdict.exit_code,
        waiting_seconds=waiting,
        artifacts=item.texts,
        heals=bool(item.texts) and item.job is not None and verdict.state.is_live,
    )


def _age(job: Mapping[str, Any], now: float | None) -> int | None:
    """Seconds since the Job was created, by the server's own clock."""
    created = job["metadata"].get("creationTimestamp")
    if now is None or not created:
        return None
    since = datetime.datetime.fromisoformat(created.replace("Z", "+00:00")).timestamp()
    return max(0, int(now - since))
