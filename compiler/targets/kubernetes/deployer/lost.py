"""Runs whose record is gone, from what their Jobs say of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from compiler.planning.records import Record, Stage
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.deployer.owned import PART_OF
from compiler.targets.kubernetes.deployer.records import RECORD_LABEL, Stored
from compiler.targets.kubernetes.metadata import (
    FILES_DIGEST,
    RUN_LABEL,
    SPEC_DIGEST,
    WORK_LABEL,
)

_OTHERS = ("ConfigMap", "Service")


def restored(cluster: Cluster, stored: Iterable[Stored]) -> Iterator[Stored]:
    """A record (of version "") for each Job of the set that has none."""
    stored = tuple(stored)
    known = {(ref.namespace, ref.name) for item in stored for ref in item.objects}
    spaces = {cluster.home, *(ref.namespace for item in stored for ref in item.objects)}
    for namespace in sorted(spaces):
        for job in cluster.listed("batch/v1", "Job", namespace):
            meta = job["metadata"]
            labels = meta.get("labels") or {}
            is_ours = labels.get(PART_OF) == cluster.inventory.id
            if is_ours and (namespace, meta["name"]) not in known:
                yield _of_job(cluster, namespace, job)


def _of_job(cluster: Cluster, namespace: str, job: Mapping[str, Any]) -> Stored:
    meta = job["metadata"]
    labels, annotations = meta["labels"], meta.get("annotations") or {}
    folder = f"kubernetes/{cluster.target}/{meta['name']}"
    record = Record(
        set=cluster.set_name,
        work=labels[WORK_LABEL],
        run=int(labels[RUN_LABEL]),
        target=cluster.target,
        kind="kubernetes",
        name=meta["name"],
        spec_digest=annotations.get(SPEC_DIGEST, ""),
        files_digest=annotations.get(FILES_DIGEST, ""),
        stage=Stage.CREATED,
        identity=meta["uid"],
    )
    objects = [
        Ref("v1", kind, namespace, item["metadata"]["name"])
        for kind in _OTHERS
        for item in cluster.listed("v1", kind, namespace)
        if _same_run(item["metadata"].get("labels") or {}, labels)
    ]
    job_ref = Ref("batch/v1", "Job", namespace, meta["name"], f"{folder}/job.yaml")
    return Stored("", "", record, (*objects, job_ref))


def _same_run(labels: Mapping[str, str], of_job: Mapping[str, str]) -> bool:
    same = all(labels.get(key) == of_job.get(key) for key in (WORK_LABEL, RUN_LABEL, PART_OF))
    return same and RECORD_LABEL not in labels
