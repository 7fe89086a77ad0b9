"""Running processes on the site's hosts, finding and ending them, and choosing free ports."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .model import Address, Ports

ENTER = Path(__file__).with_name("enter.sh")
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_AUTO_PORTS = range(20000, 32000, Ports.SPAN)  # below the ports that Linux gives to clients


class SiteError(RuntimeError):
    """The site cannot be brought up, or something in it does not work."""


@dataclass(frozen=True)
class Context:
    """What a process needs to know to get onto a host of the site."""

    state: Path
    root: Path | None = None
    private_tmp: bool = True

    def argv(
        self,
        host: str,
        command: Sequence[str | Path],
        *,
        conf: Path | None = None,
        pidfile: Path | None = None,
    ) -> list[str]:
        """The command line that runs *command* as root on *host*, with *conf* as /etc/slurm."""
        options: list[str | Path] = ["-s", self.state, "-n", host]
        if conf:
            options += ["-c", conf]
        if self.root:
            options += ["-r", self.root]
        if pidfile:
            options += ["-p", pidfile]
        if self.private_tmp:
            options.append("-t")
        namespaces = ["unshare", "--mount", "--uts", "--propagation", "private", "--"]
        return [*namespaces, "sh", *map(str, [ENTER, *options, "--", *command])]

    def daemon(self, name: str, host: str, command: Sequence[str | Path], conf: Path) -> None:
        """Starts *command* detached; its pid goes to pids/NAME, its output to log/NAME.out."""
        clean = ["env", "-i", f"PATH={PATH}", "LANG=C.UTF-8", "HOME=/root", *command]
        entered = self.argv(host, clean, conf=conf, pidfile=self.pidfile(name))
        with (self.state / "log" / f"{name}.out").open("ab") as log:
            subprocess.run(
                ["setsid", "--fork", *entered],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd="/",
                check=True,
            )

    def pidfile(self, name: str) -> Path:
        return self.state / "pids" / name

    def pid(self, name: str) -> int | None:
        """The pid of a daemon that lives, None otherwise."""
        try:
            pid = int(self.pidfile(name).read_text())
        except (FileNotFoundError, ValueError):
            return None
        return pid if self._is_ours(pid) else None

    def pids(self) -> list[int]:
        """All processes of the site, also what its jobs left behind."""
        return [
            int(entry.name)
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and self._is_ours(int(entry.name))
        ]

    def _is_ours(self, pid: int) -> bool:
        # The mount that enter.sh made; children inherit it, whatever else they do.
        try:
            mounts = Path(f"/proc/{pid}/mountinfo").read_text()
        except OSError:  # it has just ended
            return False
        return f" slurm-site:{self.state} " in mounts

    def stop(self, name: str) -> None:
        """Ends one daemon, politely first."""
        pid = self.pid(name)
        if pid is not None:
            for sig, limit in ((signal.SIGTERM, 20), (signal.SIGKILL, 5)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, sig)
                with contextlib.suppress(SiteError):
                    wait_until(lambda: not self._is_ours(pid), limit, f"{name} to end")
                    break
            else:
                raise SiteError(f"{name} (process {pid}) does not end")
        self.pidfile(name).unlink(missing_ok=True)

    def end_all(self, *, politely: bool) -> None:
        """Ends every process of the site.  Impolitely is quicker, and good if nothing is kept."""
        rounds = [(signal.SIGTERM, 5.0)] if politely else []
        rounds += [(signal.SIGKILL, 1.0)] * 5
        for sig, limit in rounds:
            for pid in self.pids():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, sig)
            with contextlib.suppress(SiteError):
                wait_until(lambda: not self.pids(), limit, "the site's processes to end")
                return
        raise SiteError(f"these processes do not end: {self.pids()}")


def wait_until(condition: Callable[[], object], seconds: float, what: str) -> None:
    """Returns as soon as *condition* holds; raises after *seconds*."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise SiteError(f"waited {seconds:g} s in vain for {what}")
        time.sleep(0.02)


def listens(address: Address | Path) -> bool:
    """Does somebody accept connections there (a TCP address, or a Unix socket's path)?"""
    family = socket.AF_UNIX if isinstance(address, Path) else socket.AF_INET
    with socket.socket(family) as probe:
        probe.settimeout(1)
        return probe.connect_ex(str(address) if isinstance(address, Path) else address) == 0


@contextlib.contextmanager
def claim_ports(wanted: int | None, previous: int | None) -> Iterator[int]:
    """Yields the first of SPAN free ports; no other site takes them while the context is open.

    *wanted* must be free; else *previous* is taken if it is free, else any.
    """
    if wanted is not None:
        candidates = [wanted]
    else:
        candidates = [previous] if previous is not None else []
        candidates += random.sample(_AUTO_PORTS, len(_AUTO_PORTS))
    for base in candidates:
        guard = _claim(base)
        if guard:
            with guard:
                yield base
            return
    if wanted is not None:
        raise SiteError(f"ports {wanted} to {wanted + Ports.SPAN - 1} are not all free")
    raise SiteError("no free range of ports")


def _claim(base: int) -> socket.socket | None:
    guard = socket.socket()
    guard.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        guard.bind(("0.0.0.0", base))
        guard.listen()  # two sites that come up at once meet here
    except OSError:
        guard.close()
        return None
    if all(_is_free(port) for port in range(base + 1, base + Ports.SPAN)):
        return guard
    guard.close()
    return None


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True


def quick_route(action: str, address: str) -> None:
    """Adds (``replace``) or removes (``del``) the route that turns delayed acknowledgements off.

    slurmdbd's protocol otherwise loses 44 ms a message, and sacctmgr takes ten times as long.
    Where this cannot be had everything is only slower.
    """
    ip = shutil.which("ip", path=PATH)
    if ip:
        route = f"{address} dev lo proto static scope host"
        extra = f"src {address} quickack 1" if action == "replace" else ""
        command = f"route {action} table local local {route} {extra}".split()
        subprocess.run([ip, *command], capture_output=True, check=False)
