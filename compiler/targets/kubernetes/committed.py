"""Work folders that are too large for a manifest and lie in a git repository: `files: {git}`.

Pods clone the repository at the commit that is checked out here, so what is brought along is
what was committed: a folder with anything else in it is refused rather than left behind.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from compiler.rendering.filetree import FileTree

_SHOWN = 3


class NotCommitted(Exception):
    """The folder is not what a clone would have; the message says why."""


@dataclass(frozen=True, slots=True)
class Committed:
    """`folder` of the repository at `commit`; empty for its top."""

    commit: str
    folder: str


def committed(tree: FileTree) -> Committed:
    """Where a local tree is in the repository around it. Raise NotCommitted if it is in none,
    or is not what is committed there."""
    if tree.local is None:
        raise ValueError(f"{tree.destination} is no local tree")
    local = Path(tree.local)
    place = local if local.is_dir() else local.parent
    top = Path(_git(place, "rev-parse", "--show-toplevel").strip())
    commit = _git(place, "rev-parse", "HEAD").strip()
    folder = local.relative_to(top).as_posix()
    folder = "" if folder == "." else folder
    changed = _git(
        top,
        *("status", "--porcelain", "--no-renames", "--untracked-files=no", "-z"),
        *("--", folder or "."),
    )
    entries = [(entry[:2], entry[3:]) for entry in changed.split("\0") if entry]
    known = set(_git(top, "ls-tree", "-r", "-z", "--name-only", "HEAD", folder or ".").split("\0"))
    prefix = f"{folder}/" if folder else ""
    wanted = {f"{prefix}{name}" if name else folder: name for name in tree.files}
    # what the tree leaves out may have changed, but what was deleted here is there in a clone
    names = [path for state, path in entries if path in wanted or "D" in state]
    for path, name in wanted.items():
        if path not in known and not (local / name).is_dir():
            names.append(path)
    if names:
        shown = ", ".join(sorted(set(names))[:_SHOWN])
        raise NotCommitted(f"not committed: {shown}{', ...' * (len(set(names)) > _SHOWN)}")
    return Committed(commit, folder)


def _git(folder: Path, *arguments: str) -> str:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments], capture_output=True, check=False
        )
    except FileNotFoundError:
        raise NotCommitted("git is not installed here") from None
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise NotCommitted(words[-1] if words else "no git repository")
    return done.stdout.decode(errors="surrogateescape")
