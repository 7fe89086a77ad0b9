"""Files of a task that an apply brings to the target first: to a bucket, or to a volume.

Their archives are named by the digest of what is in them, so that they are never stale and are
brought there once. Where files are only written, nothing brings them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from compiler.model import Deployer, TargetSpec
from compiler.rendering.filetree import FileTree
from compiler.targets.kubernetes.additions import NOTHING, Addition

# Where init containers put what they fetch, and where the volume is mounted.
FETCHED, KEPT = "/triplane/fetched", "/triplane/kept"
# Below the bucket's prefix, or the top of the volume.
FOLDER = ".triplane/files"
_VOLUME = "triplane-kept"


@dataclass(frozen=True, slots=True)
class Stored:
    """A tree whose archive pods find at `path`, fetched from `url` or in the volume `claim`."""

    tree: FileTree
    path: str
    url: str = ""
    claim: str = ""


def repository_of(target: TargetSpec) -> str | None:
    """The repository that pods clone from, as the target's `files` names it."""
    return _option(target, "git")


def bucket_of(target: TargetSpec) -> str | None:
    """The bucket, with its prefix."""
    return _option(target, "bucket")


def claim_of(target: TargetSpec) -> str | None:
    """The claim of the volume."""
    return _option(target, "volume")


def archive_name(tree: FileTree) -> str:
    return f"{tree.digest}.tar.gz"


def url_of_tree(bucket: str, tree: FileTree) -> str:
    return f"{bucket.rstrip('/')}/{FOLDER}/{archive_name(tree)}"


def stored_at(target: TargetSpec, tree: FileTree) -> Stored | None:
    """Where the tree goes; None where nothing takes it there."""
    if target.deployer is not Deployer.SERVER_SIDE_APPLY:
        return None
    if bucket := bucket_of(target):
        return Stored(tree, f"{FETCHED}/{archive_name(tree)}", url=url_of_tree(bucket, tree))
    if claim := claim_of(target):
        return Stored(tree, f"{KEPT}/{archive_name(tree)}", claim=claim)
    return None


def kept(stored: Sequence[Stored]) -> Addition:
    """The volume, for pods whose files lie in one."""
    claim = next((item.claim for item in stored if item.claim), None)
    if claim is None:
        return NOTHING
    source = {"persistentVolumeClaim": {"claimName": claim, "readOnly": True}}
    mount = {"name": _VOLUME, "mountPath": KEPT, "subPath": FOLDER, "readOnly": True}
    return Addition(volumes=({"name": _VOLUME, **source},), mounts=(mount,))


def _option(target: TargetSpec, kind: str) -> str | None:
    option = target.options.get("files")
    value = option.get(kind) if isinstance(option, Mapping) else None
    return str(value) if value else None
