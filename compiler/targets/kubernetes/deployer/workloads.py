"""The object of a run that the platform runs (a Job or a JobSet), read the same way for both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.metadata import JOB_NAME

JOBSET_NAME = "jobset.sigs.k8s.io/jobset-name"
_MEMBER = "jobset.sigs.k8s.io/replicatedjob-name"
_ATTEMPT = "jobset.sigs.k8s.io/restart-attempt"
_INDEX = "batch.kubernetes.io/job-completion-index"

# Kind -> the label by which its pods carry its name.
_NAME_LABELS = {"Job": JOB_NAME, "JobSet": JOBSET_NAME}
# What each kind calls the two ways to end.
_COMPLETE = ("Complete", "Completed")
_FAILED = "Failed"

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Workload:
    """`failed` is the condition that says so; `ranks` how many pods there are when all run;
    `restarts` how often all of them began again."""

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
            is_suspended=bool(spec.get("suspend")),
            queue=(meta.get("labels") or {}).get("kueue.x-k8s.io/queue-name"),
            ranks=_ranks(spec),
            restarts=int(status.get("restarts") or 0),
        )


def workload_of(objects: Iterable[Ref]) -> Ref | None:
    """The one object of a run that runs; None for a run that has none."""
    return next((ref for ref in objects if ref.kind in _NAME_LABELS), None)


def is_workload(ref: Ref) -> bool:
    return ref.kind in _NAME_LABELS


def key_of_pod(pod: Body) -> tuple[str, str]:
    """(kind, name) of what a pod belongs to."""
    labels = pod["metadata"].get("labels") or {}
    for kind in ("JobSet", "Job"):
        if labels.get(_NAME_LABELS[kind]):
            return kind, labels[_NAME_LABELS[kind]]
    return "", ""


def pod_selector(ref: Ref) -> str:
    """The label selector of a run's pods."""
    return f"{_NAME_LABELS[ref.kind]}={ref.name}"


def current(pods: Iterable[Body], body: Body) -> list[Body]:
    """The pods of this very object, and of a JobSet those of its present attempt."""
    if body.get("kind") == "JobSet":
        attempt = str((body.get("status") or {}).get("restarts") or 0)
        return [pod for pod in pods if _label(pod, _ATTEMPT, "0") == attempt]
    uid = body["metadata"]["uid"]
    return [
        pod
        for pod in pods
        if any(item.get("uid") == uid for item in pod["metadata"].get("ownerReferences") or ())
    ]


def rank_of(pod: Body) -> int:
    meta = pod["metadata"]
    text = _label(pod, _INDEX) or (meta.get("annotations") or {}).get(_INDEX)
    return int(text) if text and text.isdigit() else 0


def member_of(pod: Body) -> str:
    """The member of a JobSet that the pod is one of, empty in a Job."""
    return _label(pod, _MEMBER)


def _label(pod: Body, name: str, default: str = "") -> str:
    return (pod["metadata"].get("labels") or {}).get(name) or default


def _ranks(spec: Body) -> int:
    if "replicatedJobs" not in spec:
        return int(spec.get("completions") or spec.get("parallelism") or 1)
    return sum(
        int(item.get("replicas", 1)) * _ranks(item["template"]["spec"])
        for item in spec["replicatedJobs"]
    )
