"""File trees as archives on their way to where a target keeps them by digest."""

from __future__ import annotations

import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from compiler.diagnostics import WorkFailed
from compiler.rendering.filetree import FileTree, read_tree, walk
from compiler.targets.interface import Progress


@contextmanager
def packed(tree: FileTree, progress: Progress) -> Iterator[IO[bytes]]:
    """A local tree as a `tar.gz`, read from its beginning; ignore rules applied.

    Raise WorkFailed if the tree cannot be read or is no longer what its digest says.
    """
    assert tree.local is not None
    source = Path(tree.local)
    with tempfile.TemporaryFile() as file:
        try:
            _pack(source, file)
            unchanged = read_tree(source, tree.destination).digest == tree.digest
        except OSError as error:
            raise WorkFailed(f"{tree.local} cannot be read: {error}") from None
        if not unchanged:
            raise WorkFailed(f"{tree.local} changed while it was being applied; plan again")
        progress(f"upload {tree.local} ({_size(file.tell())} packed)")
        file.seek(0)
        yield file


def _pack(source: Path, file: IO[bytes]) -> None:
    with tarfile.open(fileobj=file, mode="w:gz", compresslevel=1) as tar:
        if source.is_file():
            tar.add(source, source.name)
            return
        for relative in walk(source):
            tar.add(source / relative, relative, recursive=False)


def _size(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
