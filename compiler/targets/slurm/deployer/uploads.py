"""File trees on their way to `<base>/.triplane/files/<sha256>/`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from compiler.diagnostics import WorkFailed
from compiler.rendering.filetree import FileTree
from compiler.targets.interface import Progress
from compiler.targets.packing import packed
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
    with packed(tree, progress) as file:
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


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        yield chunk
