"""A JobSet around the Jobs of one run: one task that recovers whole, or a group of tasks.

A JobSet starts again what belongs together, which a Job alone cannot do. Its children are
ordinary Indexed Jobs with names of their own, so that hosts are called
`<jobset>-<member>-0-<rank>` and selectors use the child's name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

API_VERSION = "jobset.x-k8s.io/v1alpha2"
# The replicated job of a JobSet that holds a single task.
SINGLE = "task"
_POD_SUFFIX = "-xxxxx"


@dataclass(frozen=True, slots=True)
class Member:
    """One replicated job: `spec` is a Job's, template included; `labels` and `annotations`
    are those of the child Jobs. It starts once the member `after` is complete."""

    name: str
    spec: Mapping[str, object]
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    after: str | None = None


def child_name(jobset: str, member: str) -> str:
    """The name of a child Job: what its pods carry as `batch.kubernetes.io/job-name`."""
    return f"{jobset}-{member}-0"


def longest_pod_name(jobset: str, member: str, pods: int) -> str:
    """The longest name that JobSet's webhook checks against 63 characters."""
    return f"{child_name(jobset, member)}-{pods - 1}{_POD_SUFFIX}"


def jobset_body(
    metadata: Mapping[str, object],
    members: Sequence[Member],
    *,
    failure_policy: Mapping[str, object] | None = None,
    success_policy: Mapping[str, object] | None = None,
    ttl: int | None = None,
) -> dict[str, object]:
    """The JobSet as plain data; the Service of its hosts is rendered beside it."""
    spec: dict[str, object] = {"network": {"enableDNSHostnames": False}}
    if failure_policy:
        spec["failurePolicy"] = dict(failure_policy)
    if success_policy:
        spec["successPolicy"] = dict(success_policy)
    if ttl is not None:
        spec["ttlSecondsAfterFinished"] = ttl
    spec["replicatedJobs"] = [_replicated(member) for member in members]
    return {
        "apiVersion": API_VERSION,
        "kind": "JobSet",
        "metadata": dict(metadata),
        "spec": spec,
    }


def _replicated(member: Member) -> dict[str, object]:
    template: dict[str, object] = {"spec": dict(member.spec)}
    meta = {
        key: dict(value)
        for key, value in (("labels", member.labels), ("annotations", member.annotations))
        if value
    }
    if meta:
        template["metadata"] = meta
    body: dict[str, object] = {"name": member.name, "replicas": 1}
    if member.after is not None:
        body["dependsOn"] = [{"name": member.after, "status": "Complete"}]
    return {**body, "template": template}
