"""What the site's modules share: its folder, its processes, and how it fails."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path


class SiteError(Exception):
    """The site cannot be built, started or used; the message says why."""


def cache() -> Path:
    """Where programs are built, for all checkouts of this user."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "triplane" / "cluster"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def listens(port: int, host: str = "127.0.0.1") -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0


@dataclass
class Folder:
    """The state folder of a site and the processes that were started for it.

    `processes` in it has one line each: pid, the kernel's start time of it, name.
    """

    path: Path
    _ours: dict[int, subprocess.Popen] = field(default_factory=dict)

    @property
    def list(self) -> Path:
        return self.path / "processes"

    def start(
        self, name: str, *command: object, environment: Mapping[str, str] | None = None
    ) -> int:
        """Start a daemon whose output goes to `<name>.log`."""
        with (self.path / f"{name}.log").open("ab") as log:
            process = subprocess.Popen(
                [str(word) for word in command],
                cwd=self.path,
                env={**os.environ, **(environment or {})},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._ours[process.pid] = process
        with self.list.open("a") as lines:
            lines.write(f"{process.pid} {_started(process.pid)} {name}\n")
        return process.pid

    def processes(self) -> list[tuple[int, str]]:
        """(pid, name) of those that are still the processes that were started."""
        if not self.list.exists():
            return []
        rows = [line.split() for line in self.list.read_text().splitlines()]
        return [(int(pid), name) for pid, born, name in rows if _started(int(pid)) == born]

    def running(self, name: str) -> bool:
        return any(item == name for _, item in self.processes())

    def stop(self, names: Sequence[str] = (), seconds: float = 10) -> None:
        """End these processes (all without names), the last started first."""
        chosen = [pid for pid, name in reversed(self.processes()) if not names or name in names]
        for sig in (signal.SIGTERM, signal.SIGKILL):
            for pid in chosen:
                if self._alive(pid):
                    os.kill(pid, sig)
            deadline = time.monotonic() + seconds
            while any(self._alive(pid) for pid in chosen) and time.monotonic() < deadline:
                time.sleep(0.05)

    def log(self, name: str, lines: int = 20) -> str:
        path = self.path / f"{name}.log"
        return "\n".join(path.read_text(errors="replace").splitlines()[-lines:])

    def wait(self, what: str, ready: Callable[[], bool], name: str, seconds: float = 60) -> None:
        """Until `ready()`; SiteError with the log of process `name` if that ends first."""
        deadline = time.monotonic() + seconds
        while not ready():
            if not self.running(name) or time.monotonic() > deadline:
                raise SiteError(f"{what} did not come up; {name}.log ends:\n{self.log(name)}")
            time.sleep(0.1)

    def _alive(self, pid: int) -> bool:
        process = self._ours.get(pid)
        if process is not None:
            return process.poll() is None
        return any(item == pid for item, _ in self.processes())


def _started(pid: int) -> str:
    """The kernel's start time of a process, by which a reused pid is told apart."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return "-"
    fields = stat.rpartition(")")[2].split()
    return "-" if fields[0] == "Z" else fields[19]
