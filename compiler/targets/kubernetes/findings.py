"""From findings about an object to diagnostics with a position in the user's files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from compiler.diagnostics import Code, Diagnostic, Related, Span
from compiler.diagnostics.codes import kubernetes as codes
from compiler.model import Origin
from compiler.targets.interface import Job
from compiler.targets.kubernetes.check import check_object
from compiler.targets.kubernetes.kueue import PRIORITY_CLASS
from compiler.targets.kubernetes.metadata import is_reserved
from compiler.targets.kubernetes.pod_config import CONTAINER, written_at
from compiler.targets.kubernetes.priorities import written_as
from compiler.targets.kubernetes.scalars import Fault, Finding, Path
from compiler.targets.kubernetes.semantics import semantic_findings
from compiler.targets.kubernetes.settings import Layer, Settings, settings_of

_CODES: Mapping[Fault, Code] = {
    Fault.UNKNOWN_FIELD: codes.UNKNOWN_FIELD,
    Fault.MISSING_FIELD: codes.MISSING_FIELD,
    Fault.WRONG_TYPE: codes.WRONG_TYPE,
    Fault.BAD_VALUE: codes.BAD_VALUE,
    Fault.DUPLICATE: codes.DUPLICATE,
}
# Parts of the pod that only triplane decides, by their path in the template.
_PROTECTED: tuple[Path, ...] = (
    ("spec", "hostname"),
    ("spec", "subdomain"),
    ("spec", "restartPolicy"),
    ("spec", "containers", 0, "command"),
    ("spec", "containers", 0, "args"),
    ("spec", "containers", 0, "startupProbe"),
    ("spec", "containers", 0, "readinessProbe"),
)
# Parts of the pod that fields of `resources` give.
_FIELDS: Mapping[Path, str] = {
    ("spec", "containers", 0, "image"): "image_id",
    ("spec", "nodeSelector", "node.kubernetes.io/instance-type"): "instance_type",
    ("spec", "nodeSelector", "topology.kubernetes.io/zone"): "infra",
}
# What only a task with several ranks keeps to itself: its barrier.
_PROBES = ("startupProbe", "readinessProbe")
_TEMPLATES: Mapping[str, Path] = {
    "Job": ("spec", "template"),
    "Deployment": ("spec", "template"),
    "JobSet": ("spec", "replicatedJobs", 0, "template", "spec", "template"),
}

Locate = Callable[[Path, bool], Span | None]


def all_findings(body: object, version: str | None) -> list[Finding]:
    """Faults of types first; the rules beyond them only where the types are right."""
    found = check_object(body, version)
    if not found and isinstance(body, dict):
        found = list(semantic_findings(body))
    return found


def as_diagnostics(
    findings: Iterable[Finding],
    locate: Locate,
    *,
    target: str | None,
    fallback: Span | None,
    address: str,
) -> Iterator[Diagnostic]:
    """One diagnostic a finding; what nobody wrote is reported at `fallback`."""
    for finding in findings:
        at_key = finding.fault is Fault.UNKNOWN_FIELD
        span = locate(finding.path, at_key)
        related = () if span else (Related(f"in {address}, {dotted(finding.path)}"),)
        yield _CODES[finding.fault].at(
            span or fallback,
            finding.message,
            found=finding.found,
            expected=finding.expected,
            hint=finding.hint,
            related=related,
            target=target,
        )


def dotted(path: Path) -> str:
    """`spec.template.spec.containers[0].image`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def template_path(body: Mapping) -> Path | None:
    """Where the pods of a workload are described, None for what has none."""
    return _TEMPLATES.get(str(body.get("kind")))


def locator(job: Job, settings: Settings, body: Mapping) -> Locate:
    """Where the value at a path of one of the job's objects was written."""

    if job.members:
        return _locator_of_whole(job, settings, body)

    def locate(path: Path, at_key: bool) -> Span | None:
        template = template_path(body)
        if template is not None and path[: len(template)] == template:
            below = path[len(template) :]
            pod = _at(body, template)
            assert isinstance(pod, Mapping)
            span = written_at(settings.pod_config, pod, below, at_key)
            if span is not None:
                return span
            if origin := _of_task(job, below):
                return origin.span()
            path = below
        if len(path) == 3 and path[0] == "metadata":
            return _in_metadata(job, settings.custom_metadata, str(path[1]), str(path[2]))
        return None

    return locate


def _locator_of_whole(whole: Job, settings: Settings, body: Mapping) -> Locate:
    """For a JobSet the one of the task whose part the path is in, else that of the first."""
    jobs = ("spec", "replicatedJobs")

    def locate(path: Path, at_key: bool) -> Span | None:
        if path[:2] != jobs or len(path) < 3:
            return locator(whole.members[0], settings, body)(path, at_key)
        index = path[2]
        if not isinstance(index, int) or index >= len(whole.members):
            return None
        member = whole.members[index]
        alone = {**body, "spec": {"replicatedJobs": [_at(body, (*jobs, index))]}}
        return locator(member, settings_of(member), alone)((*jobs, 0, *path[3:]), at_key)

    return locate


def _of_task(job: Job, path: Path) -> Origin | None:
    """Where the task gives what stands in its pod without `pod_config`."""
    resources = job.resources
    is_class = path == ("spec", "priorityClassName")
    key = written_as(resources) if is_class else _FIELDS.get(path)
    if key is not None:
        return resources.origin_of(key) if key in resources.given else None
    if path == ("spec", "serviceAccountName"):
        identity = job.task.origin.child("config", "kubernetes", "remote_identity")
        return identity if "config" in job.task.given else None
    return None


def nearest(locate: Locate, field: str) -> Span | None:
    """The position of a field such as `spec.template.spec.containers[0].image`, or of the
    innermost part of it that somebody wrote."""
    path: Path = tuple(
        int(step) if step.isdigit() else step for step in re.findall(r"[^.\[\]]+", field)
    )
    while path:
        if span := locate(path, False):
            return span
        path = path[:-1]
    return None


def _in_metadata(job: Job, layers: tuple[Layer, ...], field: str, key: str) -> Span | None:
    for layer in reversed(layers):
        section = layer.value.get(field)
        if isinstance(section, Mapping) and key in section:
            return layer.origin.span(field, key)
    if field == "labels" and key == PRIORITY_CLASS:
        return job.resources.origin_of(written_as(job.resources)).span()
    if field == "labels" and key in job.resources.labels:
        return job.resources.origin_of("labels").span(key)
    return None


def protected_faults(
    settings: Settings, before: Mapping, after: Mapping, target: str
) -> Iterator[Diagnostic]:
    """What `pod_config` changed although the task depends on it."""

    def where(path: Path) -> Span | None:
        return written_at(settings.pod_config, after, path, True)

    for path in _PROTECTED:
        old = _at(before, path)
        is_free = path[-1] in _PROBES and _at(before, (*path[:-1], "startupProbe")) is None
        if old == _at(after, path) or is_free:
            continue
        owner = f"of the container `{CONTAINER}` " if path[1] == "containers" else ""
        yield codes.POD_CONFIG_PROTECTED.at(
            where(path), f"`{path[-1]}` {owner}cannot be changed", target=target
        )
    if _at(after, ("spec", "dnsPolicy")) == "Default":
        yield codes.POD_CONFIG_PROTECTED.at(
            where(("spec", "dnsPolicy")),
            "with `dnsPolicy: Default` the ranks cannot find each other",
            target=target,
        )
    labels = _at(after, ("metadata", "labels"))
    own = _at(before, ("metadata", "labels"))
    if isinstance(labels, Mapping) and isinstance(own, Mapping):
        for key in sorted({*own, *labels}):
            if is_reserved(key) and own.get(key) != labels.get(key):
                yield codes.LABEL_RESERVED.at(
                    where(("metadata", "labels", key)),
                    f"the label `{key}` is set by triplane",
                    target=target,
                )


def _at(value: object, path: Path) -> object:
    for step in path:
        if isinstance(step, int):
            value = value[step] if isinstance(value, list) and step < len(value) else None
        else:
            value = value.get(step) if isinstance(value, Mapping) else None
    return value
