"""What tasks bring along: local trees, kept under their digests."""

from __future__ import annotations

import shutil
from pathlib import Path

from compiler.diagnostics import WorkFailed
from compiler.rendering.filetree import FileTree, read_tree, walk
from compiler.targets.directory.store import STATE
from compiler.targets.interface import Progress


def keep_files(out: Path, tree: FileTree, scratch: Path, progress: Progress) -> None:
    """Copy a local tree to `<out>/.triplane/files/<sha256>/`, once, whole or not at all.

    Raise WorkFailed if the tree is no longer what its digest says, OSError for the disk.
    """
    if tree.local is None:
        return
    kept = out / STATE / "files" / tree.digest
    if kept.exists():
        return
    source = Path(tree.local)
    if not source.exists():
        raise WorkFailed(f"{source} is gone; plan again")
    progress(f"copy {source}")
    copy = scratch / tree.digest
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    _copy(source, copy)
    # The copy is looked at, not the source: that may change at any moment.
    copied = copy / source.name if source.is_file() else copy
    if read_tree(copied, tree.destination).digest != tree.digest:
        shutil.rmtree(copy)
        raise WorkFailed(f"{source} changed while it was being applied; plan again")
    kept.parent.mkdir(parents=True, exist_ok=True)
    try:
        copy.rename(kept)
    except OSError:
        if not kept.exists():  # else another set has just brought the same
            raise
        shutil.rmtree(copy)


def _copy(source: Path, copy: Path) -> None:
    if source.is_file():
        shutil.copy2(source, copy / source.name)
        return
    for relative in walk(source):
        entry, place = source / relative, copy / relative
        place.parent.mkdir(parents=True, exist_ok=True)
        if entry.is_dir() and not entry.is_symlink():
            place.mkdir(exist_ok=True)
        else:
            shutil.copy2(entry, place, follow_symlinks=False)
