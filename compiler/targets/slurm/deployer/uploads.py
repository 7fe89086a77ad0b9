"""File trees on their way to `<base>/.triplane/files/<sha256>/`."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from compiler.diagnostics import WorkFailed
from compiler.rendering.filetree import FileTree, read_tree, walk
from compiler.targets.interface import Progress
from compiler.targets.slurm.deployer.remote import Remote

_CHUNK = 1 << 18
# How long a tree stays after it was last asked for, if no run that has not ended names it.
KEPT_DAYS = 7


def upload(remote: Remote, tree: FileTree, progress: Progress) -> None:
    """Bring a local tree to the cluster; harmless if it is there already.

    Raise WorkFailed if the tree is no longer what its digest says.
    """
    if tree.local is None:
        return
    with tempfile.TemporaryFile() as file:
        try:
            _pack(Path(tree.local), file)
            unchanged = read_tree(Path(tree.local), tree.destination).digest == tree.digest
        except OSError as error:
            raise WorkFailed(f"{tree.local} cannot be read: {error}") from None
        if not unchanged:
            raise WorkFailed(f"{tree.local} changed while it was being applied; plan again")
        progress(f"upload {tree.local} ({_size(file.tell())} packed)")
        file.seek(0)
        remote.call_at_base("upload", tree.digest, data=_chunks(file))
    _collect(remote, progress)


def _collect(remote: Remote, progress: Progress) -> None:
    """Where something was added, what nobody needs any more goes. It is no part of the work at
    hand: what stands in its way is only told."""
    try:
        gone = list(remote.call_at_base("collect", str(KEPT_DAYS)).of("collected"))
    except WorkFailed as error:
        progress(f"old files stay: {error}")
        return
    if gone:
        progress(f"removed {len(gone)} old file trees")


def _pack(source: Path, file: IO[bytes]) -> None:
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as tar:
        if source.is_file():
            tar.add(source, source.name)
            return
        for relative in walk(source):
            tar.add(source / relative, relative, recursive=False)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk


def _size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
