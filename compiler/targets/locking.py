"""Who holds a lock, and whether that process is still there.

A lock says which process took it in a way that only the same machine can read: its boot, its
namespace of process ids, the id and when it began. A process that is killed cannot give its
lock back; where it is known to be gone, the lock is nobody's.
"""

from __future__ import annotations

import os
from pathlib import Path

_MARK = "process "
_PROC = Path("/proc")


def signed(holder: str) -> bytes:
    """The text of a lock: the holder's words, and this process where it can be named."""
    mine = _process(os.getpid())
    line = f"{_MARK}{mine} {os.getpid()}\n" if mine else ""
    return f"{holder.rstrip()}\n{line}".encode()


def said(text: bytes) -> str:
    """The holder's words of a lock's text."""
    words = text.decode("utf-8", "replace").partition(f"\n{_MARK}")[0].strip()
    return words or "somebody"


def is_left_over(text: bytes) -> bool:
    """Whether the lock was taken by a process of this machine that is no more."""
    _, mark, line = text.decode("utf-8", "replace").partition(f"\n{_MARK}")
    theirs, _, pid = line.strip().rpartition(" ")
    mine = _process(os.getpid())
    if not mark or not mine or not pid.isdigit():
        return False
    same_machine = theirs.rpartition("/")[0] == mine.rpartition("/")[0]
    return same_machine and not _lives(int(pid), theirs)


def _lives(pid: int, process: str) -> bool:
    """Whether that very process is still there. Of another user's a host may show nothing but
    that there is one (`hidepid`); then it is taken for the one that is meant."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return _process(pid) in (None, process)


def _process(pid: int) -> str | None:
    """`<boot>/<namespace of process ids>/<when it began>`; None where there is no such thing."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        namespace = (_PROC / "self/ns/pid").readlink()
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return None
    return f"{boot}/{namespace}/{stat.rpartition(')')[2].split()[19]}"
