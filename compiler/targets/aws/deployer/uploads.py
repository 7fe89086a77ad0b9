"""File trees on their way to `<prefix>.triplane/files/<sha256>.tar.gz`."""

from __future__ import annotations

from compiler.rendering.filetree import FileTree
from compiler.targets.aws.deployer.site import Site
from compiler.targets.interface import Progress
from compiler.targets.packing import packed


def upload(site: Site, tree: FileTree, progress: Progress) -> None:
    """Bring a local tree to the bucket, unless it is there.

    Raise WorkFailed if the tree is no longer what its digest says.
    """
    if tree.local is None:
        return
    key = f"{site.options.files_prefix}/{tree.digest}.tar.gz"
    if site.store.bucket.has(key):
        return
    with packed(tree, progress) as file:
        site.store.bucket.upload(key, file)
