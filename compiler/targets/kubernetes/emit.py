"""From the data of an object to its text."""

from __future__ import annotations

from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.rendering.environment import render
from compiler.targets.kubernetes.manifest import Manifest


def emit(folder: str, manifest: Manifest) -> Artifact:
    """The artifact of one object below `folder`. Raise ValueError for what YAML cannot hold."""
    return Artifact(
        path=f"{folder}/{manifest.file}",
        text=render(f"k8s/{manifest.template}", manifest.body),
        kind=ArtifactKind.MANIFEST,
        name=manifest.address,
    )
