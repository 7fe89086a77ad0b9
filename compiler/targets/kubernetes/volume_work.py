"""A volume as work of its own: the claim that outlives the tasks which mount it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import kubernetes_features as codes
from compiler.diagnostics.codes.kubernetes import LABEL_RESERVED
from compiler.diagnostics.codes.targets import FIELD_IGNORED
from compiler.model import TargetSpec, Volume
from compiler.targets.interface import Job
from compiler.targets.kubernetes import metadata
from compiler.targets.kubernetes.manifest import Manifest
from compiler.targets.kubernetes.settings import Settings
from compiler.targets.kubernetes.support import SUPPORT
from compiler.targets.kubernetes.volumes import (
    DEFAULT_ACCESS_MODE,
    PVC,
    claim_manifest,
    claim_name,
    claim_spec,
    class_problem,
)

# What an API server changes on a claim that is there; all else is immutable.
UPDATES = frozenset(("size", "labels"))


def volume_manifests(job: Job, volume: Volume, settings: Settings) -> list[Manifest]:
    """The claim; for one that is there already, or a folder of the nodes, a note of it, so that
    the set knows that it has the volume."""
    if volume.type != PVC or volume.use_existing:
        return [_note(job, volume, settings)]
    claim = claim_manifest(
        job,
        settings,
        "claim.yaml",
        claim_name(job.stack.set_name, volume),
        volume.labels,
        claim_spec(volume.size_gib, volume.access_mode, volume.storage_class_name),
        annotations={metadata.SPEC_DIGEST: job.spec_digest},
    )
    if volume.namespace is not None:
        claim.body["metadata"]["namespace"] = volume.namespace  # type: ignore[index]
    return [claim]


def _note(job: Job, volume: Volume, settings: Settings) -> Manifest:
    what = {"claim": volume.name} if volume.type == PVC else {"host_path": str(volume.host_path)}
    name = f"{claim_name(job.stack.set_name, replace(volume, use_existing=False))}-volume"
    body: dict[str, object] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata.object_metadata(
            job, settings, name, annotations={metadata.SPEC_DIGEST: job.spec_digest}
        ),
        "immutable": True,
        "data": {"type": volume.type, **what},
    }
    return Manifest("volume.yaml", "configmap.yaml.j2", body)


def volume_faults(volume: Volume, target: TargetSpec) -> Iterator[Diagnostic]:
    """What the target is known not to give; what of the document is lost here."""
    if volume.type != PVC:
        if volume.cleanup_on_deletion:
            row = SUPPORT["volume (cleanup_on_deletion)"]
            yield FIELD_IGNORED.at(
                volume.origin.key_span("config", "cleanup_on_deletion"),
                f"`volume` on Kubernetes: {row.note}",
                hint=row.hint or None,
                target=target.key,
            )
        return
    if volume.use_existing:
        return
    for key in volume.labels:
        if metadata.is_reserved(key):
            yield LABEL_RESERVED.at(
                volume.origin.key_span("labels", key),
                f"the label `{key}` is set by triplane",
                target=target.key,
            )
    problem = class_problem(
        volume.storage_class_name, volume.access_mode or DEFAULT_ACCESS_MODE, target.options
    )
    if problem is not None:
        named = "storage_class_name" if volume.storage_class_name else "access_mode"
        yield codes.STORAGE_CLASS.at(
            volume.origin.span("config", named), problem, target=target.key
        )
