"""The locks of one apply: taken in one order, waited for, given back by who took them."""

from __future__ import annotations

import getpass
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from compiler.diagnostics import LockHeld, TargetUnreachable
from compiler.targets.interface import Deployer

Progress = Callable[[str], None]
_POLL = 1.0  # seconds between two tries for a lock


class Waiting:
    """How long to wait for locks, over all of them together; the holder is said once."""

    def __init__(self, seconds: float, progress: Progress) -> None:
        self._deadline = time.monotonic() + seconds
        self._progress = progress
        self._said = ""

    def take(self, deployer: Deployer, holder: str) -> None:
        """Raise LockHeld where the time is over and another apply still holds the lock."""
        while True:
            try:
                return deployer.lock(holder)
            except LockHeld as error:
                left = self._deadline - time.monotonic()
                if left <= 0:
                    raise
                if str(error) != self._said:
                    self._said = str(error)
                    self._progress(f"waiting for the lock: {error}")
                time.sleep(min(_POLL, left))


@contextmanager
def locked(
    deployers: Mapping[str, Deployer], holder: str, waiting: Waiting
) -> Iterator[dict[str, TargetUnreachable]]:
    """All locks in the order of the keys; yields the targets that could not be reached."""
    held: list[Deployer] = []
    away: dict[str, TargetUnreachable] = {}
    try:
        for key in sorted(deployers):
            # Before it is taken, as an interrupt may fall in between: a lock that is not this
            # deployer's own is not given back.
            held.append(deployers[key])
            try:
                waiting.take(deployers[key], holder)
            except TargetUnreachable as error:
                away[key] = error
                held.pop()
        yield away
    finally:
        for deployer in reversed(held):
            try:
                deployer.unlock()
            except TargetUnreachable as error:
                away[error.target] = error
        for deployer in deployers.values():
            deployer.close()


def holder_of(identity: str) -> str:
    try:
        user = getpass.getuser()
    except (KeyError, OSError):
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()} pid {os.getpid()} plan {identity}\n"
