"""The lock of one set on one target: a file that says who is at work."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

from compiler.diagnostics import LockHeld

_PROCESS = re.compile(r"@(?P<host>\S+) pid (?P<pid>\d+)\b")


class LockFile:
    """`path` exists as long as somebody holds the lock; its content names the holder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._mine: str | None = None

    def take(self, holder: str, what: str) -> None:
        """Raise LockHeld, which names the holder, if the lock is taken; OSError for the disk."""
        self._mine = holder.strip()  # first: an interrupt may fall between this and the file
        while not self._create(holder):
            held_by = self.holder()
            if held_by is None:  # released between the two calls
                continue
            state = "that process is gone" if _is_gone(held_by) else "if that apply is gone"
            raise LockHeld(f"{what} is locked by {held_by}; {state}: triplane unlock")
        for leftover in self.path.parent.glob(f"{self.path.name}.*.tmp"):
            leftover.unlink(missing_ok=True)

    @property
    def is_held(self) -> bool:
        """Whether it is this object that holds the lock, and not another apply."""
        return self._mine is not None and self.holder() == self._mine

    def release(self) -> None:
        """Give back the lock that `take` took; another's stays."""
        if self.is_held:
            self.path.unlink(missing_ok=True)
        self._mine = None

    def break_it(self) -> str | None:
        """Remove the lock whoever holds it; returns who did, None if nobody."""
        held_by = self.holder()
        self.path.unlink(missing_ok=True)
        return held_by

    def holder(self) -> str | None:
        try:
            said = self.path.read_text(encoding="utf-8", errors="replace").strip()
        except FileNotFoundError:
            return None
        return said or "somebody who left no name"

    def _create(self, holder: str) -> bool:
        """Make the file with its content in one step; False if it is there already.

        It is never there without the holder's name: whoever is interrupted knows it by that.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        prepared = self.path.with_name(f"{self.path.name}.{os.getpid()}.tmp")
        try:
            prepared.write_text(holder, encoding="utf-8")
            os.link(prepared, self.path)
        except FileExistsError:
            return False
        except FileNotFoundError:  # swept away by whoever took the lock meanwhile
            return False
        finally:
            prepared.unlink(missing_ok=True)
        return True


def _is_gone(holder: str) -> bool:
    """Whether the holder ran on this machine and no longer does."""
    process = _PROCESS.search(holder)
    if process is None or process["host"] != socket.gethostname():
        return False
    try:
        os.kill(int(process["pid"]), 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:
        return False
    return False
