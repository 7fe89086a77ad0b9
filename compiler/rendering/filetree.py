"""A local file or folder, addressed by its content."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

NATIVE_SCRIPT = "native_script"
"""The destination of a script that is kept as it is: it goes into the artifact, not into a home."""

STATE_FOLDER = ".triplane"
"""What the folders that triplane writes to hold beside what it rendered."""

_NEVER = (".git", STATE_FOLDER)


@dataclass(frozen=True, slots=True)
class FileTree:
    """A local file or folder, or a pinned git commit, that goes to `destination`.

    `digest` addresses the content; `local` is the absolute path it comes from (None for
    git); `files` maps relative paths to the sha256 of their entry; a single file has the one
    path `""`. `size` is the sum of the files' bytes.
    """

    destination: str
    digest: str
    local: str | None = None
    git_url: str | None = None
    git_ref: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    size: int = 0


def read_tree(local: Path, destination: str) -> FileTree:
    """Digest what is at `local`, ignore files applied. Raise OSError if it cannot be read.

    A symlink at `local` itself is followed (as SkyPilot does); links inside stay links.
    """
    root = Path(os.path.realpath(local))
    if root.is_file():
        entries = [("", root)]
    else:
        entries = [(relative, root / relative) for relative in walk(root)]
    files: dict[str, str] = {}
    size = 0
    for relative, path in entries:
        files[relative], length = _entry_digest(path)
        size += length
    return FileTree(
        destination=destination,
        digest=combine(files.items()),
        local=str(root),
        files=files,
        size=size,
    )


def combine(entries: Iterable[tuple[str, str]]) -> str:
    """One digest over (name, digest) pairs, whatever their order."""
    return hashlib.sha256(json.dumps(sorted(entries)).encode()).hexdigest()


def walk(root: Path) -> Iterator[str]:
    """Relative paths of all entries below `root` that are not ignored, sorted.

    Ignore rules come from `.skyignore` at the root if it is there, else from `.gitignore`;
    `.git` is always left out, and so is what triplane itself writes: `.triplane`, and folders
    that hold one. Empty folders are entries, others show by what is in them.
    """
    ignored = _ignore_spec(root)
    pending = [""]
    found: list[str] = []
    while pending:
        folder = pending.pop()
        kept = False
        with os.scandir(root / folder) as scanned:
            entries = list(scanned)
        if folder and any(entry.name == STATE_FOLDER for entry in entries):
            continue
        for entry in entries:
            relative = f"{folder}/{entry.name}" if folder else entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            if entry.name in _NEVER or ignored(relative + "/" * is_folder):
                continue
            kept = True
            if is_folder:
                pending.append(relative)
            else:
                found.append(relative)
        if folder and not kept:
            found.append(folder)
    return iter(sorted(found))


def _ignore_spec(root: Path):
    for name in (".skyignore", ".gitignore"):
        path = root / name
        if path.is_file():
            from pathspec import GitIgnoreSpec

            lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
            return GitIgnoreSpec.from_lines(lines).match_file
    return lambda _: False


def _entry_digest(path: Path) -> tuple[str, int]:
    """(digest of type, executable bit and content or link target; size in bytes)."""
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        return hashlib.sha256(b"link " + os.fsencode(path.readlink())).hexdigest(), 0
    if stat.S_ISDIR(status.st_mode):
        return hashlib.sha256(b"folder").hexdigest(), 0
    if not stat.S_ISREG(status.st_mode):
        raise OSError(f"{path} is neither a file, a folder nor a link")
    hasher = hashlib.sha256(b"exec " if status.st_mode & 0o100 else b"file ")
    with path.open("rb") as handle:
        while chunk := handle.read(1 << 20):
            hasher.update(chunk)
    return hasher.hexdigest(), status.st_size
