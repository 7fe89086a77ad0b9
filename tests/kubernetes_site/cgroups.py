"""A control group of its own for each site's kubelet.

A kubelet ends whatever it does not know below its root group: two of them on one machine with
one root would end each other's pods.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

_MOUNT = Path("/sys/fs/cgroup")
_UNIFIED = _MOUNT / "cgroup.controllers"


def create(name: str) -> None:
    """Make the group in every hierarchy of this machine."""
    for hierarchy in _hierarchies():
        (hierarchy / name).mkdir(exist_ok=True)
    if _UNIFIED.exists():
        for controller in _UNIFIED.read_text().split():
            with contextlib.suppress(OSError):  # one that cannot be delegated here
                (_MOUNT / "cgroup.subtree_control").write_text(f"+{controller}")


def kill(name: str) -> None:
    """End every process of the site's pods; groups may go while this looks."""
    for hierarchy in _hierarchies():
        for folder in _below(hierarchy / name):
            try:
                processes = (folder / "cgroup.procs").read_text().split()
            except OSError:
                continue
            for pid in processes:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)


def remove(name: str) -> None:
    """Remove the group and what is left below it; a group with processes stays."""
    for hierarchy in _hierarchies():
        for folder in reversed(_below(hierarchy / name)):
            with contextlib.suppress(OSError):
                folder.rmdir()


def _below(group: Path) -> list[Path]:
    """The group and all groups below it, each before those it holds."""
    return [Path(folder) for folder, _, _ in os.walk(group)]


def _hierarchies() -> list[Path]:
    if _UNIFIED.exists():
        return [_MOUNT]
    return [path for path in sorted(_MOUNT.iterdir()) if path.is_dir() and not path.is_symlink()]
