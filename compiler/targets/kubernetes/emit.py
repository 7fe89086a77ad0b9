"""From the data of an object to its text."""

from __future__ import annotations

from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.rendering.environment import render
from compiler.targets.kubernetes.lower import Manifest
from compiler.targets.kubernetes.text import block


def emit(folder: str, manifest: Manifest) -> Artifact:
    """The artifact of one object below `folder`. Raise ValueError for what YAML cannot hold."""
    return Artifact(
        path=f"{folder}/{manifest.file}",
        text=render(f"k8s/{manifest.template}", _parts(manifest.body)),
        kind=ArtifactKind.MANIFEST,
        name=manifest.address,
    )


def _parts(body: dict) -> dict[str, str | None]:
    """The blocks that the templates lay out, each indented for its place."""
    parts: dict[str, str | None] = {"metadata": block(body["metadata"], 2)}
    match body["kind"]:
        case "Job":
            spec = dict(body["spec"])
            template = spec.pop("template")
            parts["spec"] = block(spec, 2)
            parts["pod_metadata"] = block(template["metadata"], 6)
            parts["pod_spec"] = block(template["spec"], 6)
        case "ConfigMap":
            for field, part in (("data", "data"), ("binaryData", "binary_data")):
                parts[part] = block(body[field], 2) if body.get(field) else None
        case _:
            parts["spec"] = block(body["spec"], 2)
    return parts
