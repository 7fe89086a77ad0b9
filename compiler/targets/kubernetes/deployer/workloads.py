"""The one object that a run is to the platform, read the same way whatever it is.

A Job or a JobSet that ends, a Deployment that serves, a claim of a volume.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.jobset import SINGLE
from compiler.targets.kubernetes.metadata import JOB_NAME, QUEUE_NAME, WORK_LABEL

JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name"
_MEMBER = "jobset.sigs.k8s.io/replicatedjob-name"
_ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
_INDEX = "batch.kubernetes.io/job-completion-index"

# Kind -> the label by which its pods carry its name; replicas carry that of their work.
_NAME_LABELS = {"JobSet": JOBSET_NAME, "Job": JOB_NAME, "Deployment": WORK_LABEL}
CLAIM = "PersistentVolumeClaim"
# Stands for a volume that nobody makes here: a claim that was there, a folder of the nodes.
NOTE = "ConfigMap"
# What each kind calls the two ways to end.
_COMPLETE = ("Complete", "Completed")
_FAILED = "Failed"

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Workload:
    """`failed` is the condition that says so; `ranks` how many pods there are when all run;
    `restarts` how often all of them, or the ranks of one task, began again."""

    kind: str
    uid: str
    is_complete: bool
    failed: Body | None
    is_going: bool
    is_suspended: bool
    queue: str | None
    ranks: int
    restarts: int

    @classmethod
    def of(cls, body: Body) -> Workload:
        """What a live Job or JobSet says of itself."""
        meta, spec, status = body["metadata"], body["spec"], body.get("status") or {}
        held = {
            item["type"]: item
            for item in status.get("conditions") or ()
            if item.get("status") == "True"
        }
        return cls(
            kind=str(body.get("kind") or "Job"),
            uid=meta["uid"],
            is_complete=any(name in held for name in _COMPLETE),
            failed=held.get(_FAILED),
            is_going=bool(meta.get("deletionTimestamp")),
            is_suspended=is_suspended(body),
            queue=(meta.get("labels") or {}).get(QUEUE_NAME),
            ranks=_ranks(spec),
            restarts=_restarts(spec, status, _FAILED in held),
        )


def is_suspended(body: Body) -> bool:
    return bool((body.get("spec") or {}).get("suspend"))


def workload_of(objects: Iterable[Ref]) -> Ref | None:
    """What a run is to the platform; a claim only where nothing runs that could need it, and
    what is said of a volume only where there is not even a claim."""
    objects = tuple(objects)
    for kinds in (_NAME_LABELS, (CLAIM,), (NOTE,)):
        for ref in objects:
            if ref.kind in kinds:
                return ref
    return None


def is_workload(ref: Ref) -> bool:
    """Whether the object has pods."""
    return ref.kind in _NAME_LABELS


def key_of_pod(pod: Body) -> tuple[str, str]:
    """(kind, what its label says) of what a pod belongs to."""
    labels = pod["metadata"].get("labels") or {}
    for kind, name in _NAME_LABELS.items():
        if labels.get(name):
            return kind, labels[name]
    return "", ""


def key_of(ref: Ref, work: str) -> tuple[str, str]:
    """The same for what the pods belong to; `work` is the label of its work."""
    return ref.kind, work if ref.kind == "Deployment" else ref.name


def pod_selector(ref: Ref, work: str) -> str:
    """The label selector of a run's pods within its set."""
    return f"{_NAME_LABELS[ref.kind]}={key_of(ref, work)[1]}" if is_workload(ref) else ""


def current(pods: Iterable[Body], body: Body) -> list[Body]:
    """The pods of this very object: of its present attempt, the last one of each rank."""
    if body.get("kind") == "Deployment":
        return list(pods)
    if body.get("kind") == "JobSet":
        attempt = str((body.get("status") or {}).get("restarts") or 0)
        own = [pod for pod in pods if _label(pod, _ATTEMPT, "0") == attempt]
    else:
        uid = body["metadata"]["uid"]
        own = [
            pod
            for pod in pods
            if any(item.get("uid") == uid for item in pod["metadata"].get("ownerReferences") or ())
        ]
    # a Job starts a rank again in a new pod, beside the one that failed
    own.sort(key=lambda pod: pod["metadata"].get("creationTimestamp") or "")
    return list({(_label(pod, _MEMBER), rank_of(pod)): pod for pod in own}.values())


def rank_of(pod: Body) -> int:
    meta = pod["metadata"]
    text = _label(pod, _INDEX) or (meta.get("annotations") or {}).get(_INDEX)
    return int(text) if text and text.isdigit() else 0


def member_of(pod: Body) -> str:
    """The member of a JobSet that the pod is one of, empty where there is one alone."""
    member = _label(pod, _MEMBER)
    return "" if member == SINGLE else member


def who(pod: Body) -> str:
    """`rank 1`, `eval rank 1` in a group, `replica x7k2p` of a service."""
    if not _label(pod, _INDEX) and not (pod["metadata"].get("annotations") or {}).get(_INDEX):
        return f"replica {pod['metadata'].get('name', '?').rpartition('-')[2]}"
    member = member_of(pod)
    return f"{member} rank {rank_of(pod)}" if member else f"rank {rank_of(pod)}"


def _label(pod: Body, name: str, default: str = "") -> str:
    return (pod["metadata"].get("labels") or {}).get(name) or default


def _restarts(spec: Body, status: Body, has_failed: bool) -> int:
    """A JobSet counts how often all began again, and how often each task alone did; a Job that
    recovers its failed pods, of which the last may have been its end."""
    if "replicatedJobs" in spec:
        alone = [
            count
            for item in status.get("replicatedJobsStatus") or ()
            for count in item.get("jobRestarts") or ()
        ]
        return int(status.get("restarts") or 0) + sum(alone)
    if not spec.get("backoffLimit"):
        return 0
    return max(0, int(status.get("failed") or 0) - has_failed)


def _ranks(spec: Body) -> int:
    if "replicatedJobs" not in spec:
        return int(spec.get("completions") or spec.get("parallelism") or 1)
    return sum(
        int(item.get("replicas", 1)) * _ranks(item["template"]["spec"])
        for item in spec["replicatedJobs"]
    )
