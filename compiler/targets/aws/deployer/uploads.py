"""File trees on their way to `<prefix>.triplane/files/<sha256>.tar.gz`."""

from __future__ import annotations

import tarfile
import tempfile
from pathlib import Path
from typing import IO

from compiler.diagnostics import WorkFailed
from compiler.rendering.filetree import FileTree, read_tree, walk
from compiler.targets.aws.deployer.site import Site
from compiler.targets.interface import Progress


def upload(site: Site, tree: FileTree, progress: Progress) -> None:
    """Bring a local tree to the bucket, unless it is there.

    Raise WorkFailed if the tree is no longer what its digest says.
    """
    if tree.local is None:
        return
    key = f"{site.options.files_prefix}/{tree.digest}.tar.gz"
    if site.store.bucket.has(key):
        return
    with tempfile.TemporaryFile() as file:
        try:
            _pack(Path(tree.local), file)
            unchanged = read_tree(Path(tree.local), tree.destination).digest == tree.digest
        except OSError as error:
            raise WorkFailed(f"{tree.local} cannot be read: {error}") from None
        if not unchanged:
            raise WorkFailed(f"{tree.local} changed while it was being applied; plan again")
        progress(f"upload {tree.local} ({file.tell()} bytes packed)")
        file.seek(0)
        site.store.bucket.upload(key, file)


def _pack(source: Path, file: IO[bytes]) -> None:
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as tar:
        if source.is_file():
            tar.add(source, source.name)
            return
        for relative in walk(source):
            tar.add(source / relative, relative, recursive=False)
