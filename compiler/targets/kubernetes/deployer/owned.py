"""What of a live object is ours: the fields that our manager applied, in a canonical text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import yaml

from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.targets.kubernetes.deployer.client import MANAGER
from compiler.targets.kubernetes.metadata import QUEUE_NAME

PART_OF = "applyset.kubernetes.io/part-of"

# What Kueue writes into a Job when it admits or evicts it; whoever set it first, it is Kueue's.
_OF_JOB: tuple[tuple[str, ...], ...] = (
    ("parallelism",),
    ("template", "spec", "nodeSelector"),
    ("template", "spec", "tolerations"),
    ("template", "spec", "schedulingGates"),
    ("template", "metadata", "labels"),
    ("template", "metadata", "annotations"),
)
_EACH = "*"
_KUEUES = {
    "Job": (("spec", "suspend"), *(("spec", *path) for path in _OF_JOB)),
    "JobSet": (
        ("spec", "suspend"),
        *(("spec", "replicatedJobs", _EACH, "template", "spec", *path) for path in _OF_JOB),
    ),
}


def canonical(live: Mapping[str, Any]) -> str:
    """The fields of ours, after defaulting and admission, as YAML with sorted keys."""
    body = owned(live)
    labels = body.get("metadata", {}).get("labels", {})
    labels.pop(PART_OF, None)
    if QUEUE_NAME in live["metadata"].get("labels", {}):
        for path in _KUEUES.get(str(live.get("kind")), ()):
            _drop(body, path)
    return yaml.dump(body, Dumper=_Dumper, sort_keys=True, allow_unicode=True, width=100)


def digest(text: str) -> str:
    """The digest of a live text as records hold it."""
    return Artifact("", text, ArtifactKind.CONFIG, "").digest


def owned(live: Mapping[str, Any]) -> dict[str, Any]:
    """A copy that holds the object's address and what our manager owns by an apply."""
    body: dict[str, Any] = {
        "apiVersion": live.get("apiVersion"),
        "kind": live.get("kind"),
        "metadata": {
            key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]
        },
    }
    for entry in live["metadata"].get("managedFields") or ():
        is_ours = entry.get("manager") == MANAGER and entry.get("operation") == "Apply"
        if is_ours and not entry.get("subresource"):
            _merge(body, _picked(live, entry.get("fieldsV1") or {}))
    return body


def other_managers(live: Mapping[str, Any]) -> list[str]:
    """Who else has written to the object, its status apart."""
    entries = live["metadata"].get("managedFields") or ()
    found = {str(item.get("manager")) for item in entries if not item.get("subresource")}
    return sorted(found - {MANAGER})


def _picked(value: Any, fields: Mapping[str, Any]) -> Any:
    """What a field set of `managedFields` names in `value`."""
    members = {key: below for key, below in fields.items() if key != "."}
    if not members:
        return value
    if isinstance(value, Mapping):
        return {
            name: _picked(value[name], below)
            for key, below in members.items()
            if (name := key.removeprefix("f:")) in value
        }
    if isinstance(value, list):
        return [
            _picked(item, members[key])
            for item in value
            if (key := _key_of(item, members)) is not None
        ]
    return value


def _key_of(item: Any, members: Mapping[str, Any]) -> str | None:
    """The member of a field set that is this list item: `k:{...}` by keys, `v:...` by value."""
    for key in members:
        kind, _, text = key.partition(":")
        wanted = json.loads(text)
        if kind == "v" and item == wanted:
            return key
        if kind == "k" and isinstance(item, Mapping) and wanted.items() <= item.items():
            return key
    return None


def _merge(body: dict[str, Any], more: Any) -> None:
    for key, value in more.items() if isinstance(more, Mapping) else ():
        if isinstance(value, Mapping) and isinstance(body.get(key), dict):
            _merge(body[key], value)
        else:
            body[key] = value


def _drop(body: dict[str, Any], path: tuple[str, ...]) -> None:
    for at, key in enumerate(path[:-1]):
        if key == _EACH:
            each: list[dict[str, Any]] = body if isinstance(body, list) else []
            for item in each:
                _drop(item, path[at + 1 :])
            return
        body = body.get(key) or {}
    body.pop(path[-1], None)


_Dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
