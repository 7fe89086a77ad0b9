"""What a plan was made with: noted in it, and blocking nothing, as an upgrade starts nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from compiler import __version__
from compiler.catalog.accelerators import DATA
from compiler.resources import data_folder


@cache
def noted_versions() -> dict[str, str]:
    """The version of the tool, and digests of its catalogue and of its templates."""
    return {
        "triplane": __version__,
        "catalogue": _digest(DATA),
        "templates": _digest(data_folder("templates")),
    }


def _digest(folder: Path) -> str:
    """16 hex digits over names and contents of all files below a folder."""
    total = hashlib.sha256()
    for path in _files(folder):
        total.update(f"{path.relative_to(folder).as_posix()}\0".encode())
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


def _files(folder: Path) -> Iterator[Path]:
    """Sorted, without what an editor or an interpreter leaves behind."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts and path.name[0] != ".":
            yield path
