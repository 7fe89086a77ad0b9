"""Rules of the API server that no schema says: names, labels, references within a pod.

They find at compile time what a server would answer with 422, or what it would accept and
never run.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from compiler.model import label_problem
from compiler.targets.kubernetes.pod_rules import DNS_LABEL, DNS_SUBDOMAIN, pod_findings
from compiler.targets.kubernetes.scalars import Fault, Finding, Path, shown

_DATA_KEY = re.compile(r"[-._a-zA-Z0-9]{1,253}")
# Kinds whose names become parts of host names.
_LABEL_NAMED = {"Service", "Namespace", "JobSet"}
# Kinds whose names, moreover, begin with a letter.
_LETTER_FIRST = {"JobSet"}
# An object must fit into one request to etcd.
CONFIG_MAP_LIMIT = 1024 * 1024


_problem = lru_cache(maxsize=4096)(label_problem)


def semantic_findings(manifest: dict) -> Iterator[Finding]:
    """Faults of an object whose types are right, as far as they are knowable offline."""
    kind = manifest.get("kind")
    yield from _metadata(manifest, str(kind))
    spec = manifest.get("spec")
    if kind == "Pod" and isinstance(spec, dict):
        yield from pod_findings(spec, ("spec",))
    elif kind in ("Job", "Deployment", "StatefulSet", "DaemonSet") and isinstance(spec, dict):
        template = spec.get("template") or {}
        yield from _labels(template.get("metadata") or {}, ("spec", "template", "metadata"))
        yield from pod_findings(template.get("spec") or {}, ("spec", "template", "spec"))
        if kind == "Job":
            yield from _job(spec, ("spec",))
    elif kind == "JobSet" and isinstance(spec, dict):
        yield from _jobset(spec)
    elif kind == "ConfigMap":
        yield from _config_map(manifest)


def _jobset(spec: dict) -> Iterator[Finding]:
    for index, member in enumerate(spec.get("replicatedJobs") or ()):
        path: Path = ("spec", "replicatedJobs", index, "template", "spec")
        job = (member.get("template") or {}).get("spec") or {}
        template = job.get("template") or {}
        yield from _labels(template.get("metadata") or {}, (*path, "template", "metadata"))
        yield from pod_findings(template.get("spec") or {}, (*path, "template", "spec"))
        yield from _job(job, path)


def _metadata(manifest: dict, kind: str) -> Iterator[Finding]:
    metadata = manifest.get("metadata") or {}
    name = metadata.get("name")
    pattern = DNS_LABEL if kind in _LABEL_NAMED else DNS_SUBDOMAIN
    path: Path = ("metadata", "name")
    if name is None:
        yield Finding(Fault.MISSING_FIELD, path, "the object has no name")
    elif not pattern.fullmatch(name) or len(name) > (63 if kind in _LABEL_NAMED else 253):
        yield Finding(
            Fault.BAD_VALUE,
            path,
            f"{shown(name)} is no valid name of a {kind}",
            expected="lower-case letters, digits and `-`, with a letter or digit at both ends",
        )
    elif kind in _LETTER_FIRST and name[0].isdigit():
        yield Finding(Fault.BAD_VALUE, path, f"the name of a {kind} begins with a letter", name)
    yield from _labels(metadata, ("metadata",))


def _labels(metadata: dict, path: Path) -> Iterator[Finding]:
    for field in ("labels", "annotations"):
        for key, value in (metadata.get(field) or {}).items():
            # the keys of annotations follow the rule of labels, their values none
            problem = _problem("kubernetes", key, value if field == "labels" else "")
            if problem is not None:
                yield Finding(Fault.BAD_VALUE, (*path, field, key), problem)


def _job(spec: dict, base: Path) -> Iterator[Finding]:
    pod = (spec.get("template") or {}).get("spec") or {}
    path: Path = (*base, "template", "spec", "restartPolicy")
    policy = pod.get("restartPolicy")
    if policy not in ("Never", "OnFailure"):
        yield Finding(
            Fault.BAD_VALUE,
            path,
            "the pods of a Job are restarted `Never` or `OnFailure`",
            found=shown(policy),
        )
    elif policy != "Never" and spec.get("podFailurePolicy"):
        yield Finding(
            Fault.BAD_VALUE, path, "podFailurePolicy needs restartPolicy `Never`", shown(policy)
        )
    if spec.get("completionMode") == "Indexed" and spec.get("completions") is None:
        yield Finding(
            Fault.MISSING_FIELD, (*base, "completions"), "an Indexed Job needs `completions`"
        )


def _config_map(manifest: dict) -> Iterator[Finding]:
    size = 0
    for field in ("data", "binaryData"):
        for key, value in (manifest.get(field) or {}).items():
            size += len(value) * 3 // 4 if field == "binaryData" else len(value.encode())
            if not _DATA_KEY.fullmatch(key):
                yield Finding(
                    Fault.BAD_VALUE, (field, key), f"{shown(key)} is no key of a ConfigMap"
                )
    if size > CONFIG_MAP_LIMIT:
        yield Finding(
            Fault.BAD_VALUE,
            ("data",),
            f"the ConfigMap holds {size // 1024} KiB, a server takes 1024",
        )
