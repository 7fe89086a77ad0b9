"""Work folders as archives small enough for a manifest.

The archive of a tree is decided by what is in it: names, executable bits, contents and link
targets, in sorted order, without times and owners.
"""

from __future__ import annotations

import io
import stat
import tarfile
from functools import lru_cache
from pathlib import Path, PurePosixPath

from compiler.rendering.filetree import FileTree
from compiler.targets.kubernetes.deflate import gzip

# Of all archives of a job together. base64 makes a third more of it, and an object has to fit
# into 1 MiB together with its metadata.
ARCHIVE_LIMIT = 512 * 1024
# Above this no text compresses below the limit; nothing is read then.
_HOPELESS = 64 * ARCHIVE_LIMIT


class TooLarge(Exception):
    """The files do not fit; `size` in bytes, `compressed` says of what."""

    def __init__(self, size: int, compressed: bool) -> None:
        super().__init__(f"{size} bytes")
        self.size = size
        self.compressed = compressed


def archive(tree: FileTree) -> bytes:
    """The gzipped tar of a local tree, to be unpacked by `tar -xz` in `root_of(tree)`.

    Raise OSError if a file cannot be read, TooLarge if the archive is above ARCHIVE_LIMIT.
    """
    if tree.local is None:
        raise ValueError(f"{tree.destination} is no local tree")
    if tree.size > _HOPELESS:
        raise TooLarge(tree.size, compressed=False)
    return _archive(
        tree.digest, tree.local, tuple(tree.files), PurePosixPath(tree.destination).name
    )


def root_of(tree: FileTree) -> str:
    """The folder in which the archive is unpacked, as the dialect reads destinations.

    A relative destination is below the working directory. A single file's folder is the
    destination's parent.
    """
    path = PurePosixPath(tree.destination)
    if not (path.is_absolute() or path.parts[:1] == ("~",)):
        path = PurePosixPath("~/sky_workdir") / path
    return str(path.parent if is_single_file(tree) else path)


def is_single_file(tree: FileTree) -> bool:
    return tuple(tree.files) == ("",)


@lru_cache(maxsize=32)
def _archive(digest: str, local: str, names: tuple[str, ...], own_name: str) -> bytes:
    """`digest` stands for the content, so that tasks which share a folder share the work."""
    buffer = io.BytesIO()
    root = Path(local)
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for name in sorted(names):
            _add(tar, root / name if name else root, name or own_name)
    packed = gzip(buffer.getvalue())
    if len(packed) > ARCHIVE_LIMIT:
        raise TooLarge(len(packed), compressed=True)
    return packed


def _add(tar: tarfile.TarFile, path: Path, name: str) -> None:
    entry = tarfile.TarInfo(name)
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        entry.type, entry.linkname, entry.mode = tarfile.SYMTYPE, str(path.readlink()), 0o777
        tar.addfile(entry)
    elif stat.S_ISDIR(status.st_mode):
        entry.type, entry.mode = tarfile.DIRTYPE, 0o755
        tar.addfile(entry)
    else:
        content = path.read_bytes()
        entry.size, entry.mode = len(content), 0o755 if status.st_mode & 0o100 else 0o644
        tar.addfile(entry, io.BytesIO(content))
