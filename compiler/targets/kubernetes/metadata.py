"""Names, labels and annotations of a job's objects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import kubernetes as codes
from compiler.model import names
from compiler.model.labels import label_problem
from compiler.targets.interface import Job
from compiler.targets.kubernetes import kueue
from compiler.targets.kubernetes.jobset import SINGLE, child_name, longest_pod_name
from compiler.targets.kubernetes.settings import Settings

DOMAIN = "triplane.dev"
SET_LABEL = f"{DOMAIN}/set"
WORK_LABEL = f"{DOMAIN}/work"
RUN_LABEL = f"{DOMAIN}/run"
SPEC_DIGEST = f"{DOMAIN}/spec-digest"
FILES_DIGEST = f"{DOMAIN}/files-digest"
MANAGED_BY = "app.kubernetes.io/managed-by"
JOB_NAME = "batch.kubernetes.io/job-name"
QUEUE_NAME = kueue.QUEUE_NAME

_LABEL_LIMIT = 63
_RESERVED_PREFIXES = (f"{DOMAIN}/", "batch.kubernetes.io/", "controller-uid", "job-name")
_RESERVED = (MANAGED_BY, QUEUE_NAME)


@dataclass(frozen=True, slots=True)
class Names:
    """Names of a job's objects. Hosts are called `<job>-<rank>`."""

    job: str
    service: str
    ready_service: str
    scripts: str
    files: str
    secrets: str
    jobset: str | None = None


def names_of(job: Job, in_jobset: bool = False) -> Names:
    """All names; those that outlive a run (`secrets`) do not carry its number. `job` is what
    the pods say that they belong to, in a JobSet its child."""
    name = job.name
    return Names(
        job=child_name(name, SINGLE) if in_jobset else name,
        jobset=name if in_jobset else None,
        service=name,
        ready_service=f"{name}-ready",
        scripts=f"{name}-scripts",
        files=f"{name}-files",
        secrets=secrets_name(job),
    )


def versioned(names: Names, texts: Mapping[str, str], files: Mapping[str, str]) -> Names:
    """The same with the content of both ConfigMaps in their names, as they are immutable."""

    def digest(data: Mapping[str, str]) -> str:
        return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:8]

    return replace(
        names,
        scripts=f"{names.scripts}-{digest(texts)}",
        files=f"{names.files}-{digest(files)}",
    )


def secrets_name(job: Job) -> str:
    """The Secret that an apply keeps for a work: the values handed over to it, by name."""
    return f"{names.work_label(job.stack.set_name, job.whole)}-secrets"


def too_long(job: Job, derived: Names) -> Iterator[Diagnostic]:
    """The derived names that are no DNS labels any more."""
    ranks = job.task.num_nodes
    wanted = [("host", f"{derived.job}-{ranks - 1}"), ("service", derived.ready_service)]
    if derived.jobset is not None:
        wanted.append(("pod", longest_pod_name(derived.jobset, SINGLE, ranks)))
    for what, name in wanted:
        if len(name) > names.DNS_LABEL_LIMIT:
            yield codes.NAME_TOO_LONG.at(
                job.task.origin.span("name"),
                f"the {what} name `{name}` has {len(name)} characters",
                expected=f"at most {names.DNS_LABEL_LIMIT}",
                target=job.target.key,
            )


def own_labels(job: Job) -> dict[str, str]:
    """The labels by which triplane finds what it owns; on every object and pod."""
    return {
        MANAGED_BY: "triplane",
        SET_LABEL: names.cut(job.stack.set_name, _LABEL_LIMIT),
        WORK_LABEL: names.cut(job.whole, _LABEL_LIMIT),
        RUN_LABEL: str(job.run),
    }


def custom(settings: Settings, field: str) -> dict[str, str]:
    """`custom_metadata.labels` or `.annotations`, the layers laid over each other."""
    merged: dict[str, str] = {}
    for layer in settings.custom_metadata:
        value = layer.value.get(field)
        if isinstance(value, Mapping):
            merged.update(value)
    return merged


def object_metadata(
    job: Job,
    settings: Settings,
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
) -> dict[str, object]:
    """`metadata` of an object; our own labels win, as selectors depend on them."""
    body: dict[str, object] = {"name": name}
    if settings.namespace is not None:
        body["namespace"] = settings.namespace
    body["labels"] = {**custom(settings, "labels"), **(labels or {}), **own_labels(job)}
    own = {
        key: value
        for key, value in custom(settings, "annotations").items()
        if not key.startswith(kueue.OF_PODS)
    }
    annotated = {**own, **(annotations or {})}
    if annotated:
        body["annotations"] = annotated
    return body


def job_labels(job: Job, settings: Settings) -> dict[str, str]:
    """The user's labels, and those of the queue."""
    return {**job.resources.labels, **kueue.job_labels(job, settings)}


def is_reserved(key: str) -> bool:
    return key in _RESERVED or key.startswith(_RESERVED_PREFIXES)


def label_faults(job: Job) -> Iterator[Diagnostic]:
    """The user's labels that Kubernetes does not take, or that are ours."""
    origin = job.resources.origin_of("labels")
    for key, value in job.resources.labels.items():
        if is_reserved(key):
            yield codes.LABEL_RESERVED.at(
                origin.key_span(key),
                f"the label `{key}` is set by triplane",
                target=job.target.key,
            )
        elif problem := label_problem("kubernetes", key, value):
            yield codes.BAD_VALUE.at(origin.key_span(key), problem, target=job.target.key)
