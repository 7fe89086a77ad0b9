"""Runs whose record is gone, from what their Jobs, or the rest of their objects, say."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compiler.model import names
from compiler.planning.records import Lifecycle, Record, Stage
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.deployer.owned import PART_OF
from compiler.targets.kubernetes.deployer.records import RECORD_LABEL, Stored
from compiler.targets.kubernetes.deployer.refusals import ApiRefused
from compiler.targets.kubernetes.jobset import API_VERSION
from compiler.targets.kubernetes.metadata import (
    FILES_DIGEST,
    RUN_LABEL,
    SPEC_DIGEST,
    WORK_LABEL,
)

_OTHERS = ("ConfigMap", "Service")
_MORE = ((API_VERSION, "JobSet"), ("apps/v1", "Deployment"))


def restored(cluster: Cluster, stored: Iterable[Stored]) -> Iterator[Stored]:
    """A record (of version "") for each run of the set that has left objects and none.

    A run that has left neither a record nor what ran is one of which nobody knows what became:
    its record says CREATED and has no identity.
    """
    stored = tuple(stored)
    known = {(ref.namespace, ref.name) for item in stored for ref in item.objects}
    spaces = {cluster.home, *(ref.namespace for item in stored for ref in item.objects)}
    for namespace in sorted(spaces):
        for job in _workloads(cluster, namespace):
            meta = job["metadata"]
            labels = meta.get("labels") or {}
            is_ours = labels.get(PART_OF) == cluster.inventory.id
            if is_ours and (namespace, meta["name"]) not in known:
                yield _of_job(cluster, namespace, job)
                known.add((namespace, meta["name"]))
        yield from _left_over(cluster, namespace, known)


def _left_over(cluster: Cluster, namespace: str, known: set[tuple[str, str]]) -> Iterator[Stored]:
    """Runs of which only what their Job needed is there."""
    runs: dict[tuple[str, str], list[Ref]] = {}
    for kind in _OTHERS:
        for item in cluster.listed("v1", kind, namespace):
            labels = item["metadata"].get("labels") or {}
            is_ours = labels.get(PART_OF) == cluster.inventory.id and RECORD_LABEL not in labels
            if is_ours and labels.get(RUN_LABEL, "").isdigit():
                key = (labels.get(WORK_LABEL, ""), labels[RUN_LABEL])
                runs.setdefault(key, []).append(
                    Ref("v1", kind, namespace, item["metadata"]["name"])
                )
    for (work, run), objects in sorted(runs.items()):
        name = names.run_label(cluster.set_name, work, int(run))
        if not any((namespace, ref.name) in known for ref in objects):
            record = _record(cluster, work, int(run), name)
            yield Stored("", "", record, tuple(objects))


def _record(cluster: Cluster, work: str, run: int, name: str) -> Record:
    return Record(
        set=cluster.set_name,
        work=work,
        run=run,
        target=cluster.target,
        kind="kubernetes",
        name=name,
        spec_digest="",
        files_digest="",
        stage=Stage.CREATED,
    )


def _workloads(cluster: Cluster, namespace: str) -> Iterator[dict[str, Any]]:
    """Jobs, and the other kinds where there are any to be seen."""
    yield from cluster.listed("batch/v1", "Job", namespace)
    for version, kind in _MORE:
        try:
            yield from cluster.listed(version, kind, namespace)
        except ApiRefused as error:
            if error.status != 404 and not error.is_forbidden:
                raise


def _of_job(cluster: Cluster, namespace: str, job: Mapping[str, Any]) -> Stored:
    meta = job["metadata"]
    labels, annotations = meta["labels"], meta.get("annotations") or {}
    folder = f"kubernetes/{cluster.target}/{meta['name']}"
    record = dataclasses.replace(
        _record(cluster, labels[WORK_LABEL], int(labels[RUN_LABEL]), meta["name"]),
        spec_digest=annotations.get(SPEC_DIGEST, ""),
        files_digest=annotations.get(FILES_DIGEST, ""),
        identity=meta["uid"],
        lifecycle=Lifecycle.SERVICE if job["kind"] == "Deployment" else Lifecycle.RUN,
    )
    objects = [
        Ref("v1", kind, namespace, item["metadata"]["name"])
        for kind in _OTHERS
        for item in cluster.listed("v1", kind, namespace)
        if _same_run(item["metadata"].get("labels") or {}, labels)
    ]
    file = f"{job['kind'].lower()}.yaml"
    job_ref = Ref(job["apiVersion"], job["kind"], namespace, meta["name"], f"{folder}/{file}")
    return Stored("", "", record, (*objects, job_ref))


def _same_run(labels: Mapping[str, str], of_job: Mapping[str, str]) -> bool:
    same = all(labels.get(key) == of_job.get(key) for key in (WORK_LABEL, RUN_LABEL, PART_OF))
    return same and RECORD_LABEL not in labels
