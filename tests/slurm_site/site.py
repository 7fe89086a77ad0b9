"""The site itself: bringing it up and down, and what tests do with it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from . import access, daemons
from .hosts import SiteError, claim_ports, quick_route, wait_until
from .install import missing
from .login import login_argv, make_bin_dir, run_root
from .model import USERS
from .prepare import prepare
from .settings import Settings

_ENDED = (
    "BOOT_FAIL",
    "CANCELLED",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "TIMEOUT",
)


class SlurmSite:
    """One or two Slurm clusters on this machine; see the package's description.

    *state_dir* must be searchable by all users; ``temporary()`` makes such a folder.  *base_port*
    None takes any free range.  *private_tmp* gives each host a /tmp of its own, as real nodes
    have.  *root* is a Debian tree from ``make_root``, whose Slurm is then used.
    """

    def __init__(
        self,
        state_dir: str | Path,
        base_port: int | None = None,
        clusters: Sequence[str] = ("alpha", "beta"),
        accounting: bool = True,
        private_tmp: bool = True,
        root: str | Path | None = None,
    ) -> None:
        tree = Path(root).resolve() if root else None
        state = Path(state_dir).resolve()
        self._settings = Settings(state, None, tuple(clusters), accounting, private_tmp, tree)
        self._wanted_port = base_port

    @classmethod
    def temporary(cls, **settings: Any) -> SlurmSite:
        """A site in a new folder below /tmp; the settings are those of the class."""
        folder = Path(tempfile.mkdtemp(prefix="triplane-slurm-", dir="/tmp"))
        try:
            folder.chmod(0o755)
            return cls(folder, **settings)
        except BaseException:
            folder.rmdir()
            raise

    @classmethod
    def load(cls, state_dir: str | Path) -> SlurmSite:
        """The site that was brought up in this folder, by any process."""
        site = cls(state_dir)
        saved = Settings.saved(site.state)
        if not saved:
            raise SiteError(f"there is no Slurm site in {state_dir}")
        site._settings = saved
        return site

    def __enter__(self) -> SlurmSite:
        try:
            self.up()
        except BaseException:
            self.down()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.down()

    @property
    def state(self) -> Path:
        """The folder with all state of the site."""
        return self._settings.state

    @property
    def clusters(self) -> tuple[str, ...]:
        """The names of the clusters."""
        return self._settings.clusters

    @property
    def accounting(self) -> bool:
        """Is there a slurmdbd?"""
        return self._settings.accounting

    # --- up and down

    def up(self) -> None:
        """Brings the site up; does nothing if it is up with the same settings.

        Keys, jobs and accounting of an earlier site in the same folder are kept.
        """
        reasons = missing(self._settings.root, accounting=self.accounting)
        if reasons:
            raise SiteError("\n".join(reasons))
        saved = Settings.saved(self.state)
        previous = saved.base_port if saved else None
        if self._wanted_port in (None, previous):
            self._settings = replace(self._settings, base_port=previous)
            if saved == self._settings and self.running():
                return
        self.down(purge=False)
        try:
            with claim_ports(self._wanted_port, previous) as base:
                self._settings = replace(self._settings, base_port=base)
                prepare(self._settings)
                daemons.start_all(self._settings)
        except SiteError as error:
            raise SiteError(f"{error}\n{self.logs()}".rstrip()) from None
        host_keys = {name: self.state / name / "hostkey.pub" for name in self.clusters}
        access.write_client_files([self.ssh(name) for name in self.clusters], host_keys)

    def down(self, purge: bool = True) -> None:
        """Ends every process of the site; with *purge* also removes its folder.

        Harmless if nothing is up, and usable from any process (``SlurmSite.load(...).down()``).
        """
        self._settings.context.end_all(politely=not purge)
        saved = Settings.saved(self.state)
        if saved:
            quick_route("del", saved.ports.fast_host)
            shutil.rmtree(self.state / "pids", ignore_errors=True)
            if saved.root:
                with contextlib.suppress(OSError):  # where the state was mounted
                    (saved.root / str(self.state).lstrip("/")).rmdir()
        if purge and self.state.exists():
            if not saved and any(self.state.iterdir()):
                raise SiteError(f"{self.state} is not a Slurm site's folder: not removed")
            shutil.rmtree(self.state)

    def running(self) -> bool:
        """Are all daemons alive?"""
        if self._settings.base_port is None:
            return False
        return all(map(self._settings.context.pid, daemons.services(self._settings)))

    def service(self, name: str, action: Literal["stop", "start", "restart"]) -> None:
        """One daemon, for fault tests; returns when it has ended, or listens again.

        Names: munged, mariadbd, slurmdbd; CLUSTER-ctl, CLUSTER-login, CLUSTER-NODE.
        """
        services = daemons.services(self._settings)
        if name not in services:
            raise SiteError(f"no daemon {name!r}; there are {', '.join(services)}")
        if action not in ("stop", "start", "restart"):
            raise SiteError(f"no action {action!r}; there are stop, start and restart")
        if action != "start":
            self._settings.context.stop(name)
        if action != "stop" and not self._settings.context.pid(name):
            daemons.start(self._settings, services[name])
            daemons.await_ready(self._settings, services[name])

    def reset(self) -> None:
        """Starts what was stopped, cancels all jobs, resumes all nodes: after fault tests."""
        for name in daemons.services(self._settings):
            self.service(name, "start")
        for cluster in self.clusters:
            daemons.await_controller(self._settings, cluster)
            for user in USERS:
                run_root(self._settings, cluster, "scancel", "--user", user)
            # Fails for nodes that need no resuming.
            run_root(self._settings, cluster, "scontrol", "update", "NodeName=ALL", "State=RESUME")
            daemons.await_idle(self._settings, cluster)

    def logs(self, lines: int = 8) -> str:
        """The last lines of every log of the site, for error messages."""
        parts = []
        for file in sorted([*self.state.glob("log/*"), *self.state.glob("*/log/*")]):
            tail = file.read_text(errors="replace").splitlines()[-lines:]
            if tail:
                parts.append("\n".join([f"--- {file.relative_to(self.state)}", *tail]))
        return "\n".join(parts)

    # --- getting in

    def argv(
        self,
        cluster: str,
        user: str,
        argv: Sequence[str | Path],
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
    ) -> list[str]:
        """The command line by which ``run`` runs a command, to be used with Popen and the like."""
        return login_argv(self._settings, cluster, user, argv, cwd, env)

    def run(
        self,
        cluster: str,
        user: str,
        argv: Sequence[str | Path],
        input: str | None = None,
        cwd: str | Path | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = 120,
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command as *user* (or root) on the cluster's login host, without SSH.

        It starts in the user's home with a clean environment plus *env*.  Never raises because
        of an exit code.
        """
        return subprocess.run(
            self.argv(cluster, user, argv, cwd, env),
            input="" if input is None else input,
            capture_output=True,
            text=True,
            timeout=timeout,
            check=False,
        )

    def bin_dir(self, cluster: str, user: str) -> Path:
        """A folder with sbatch, squeue, ... for PATH: makes the cluster local to this process.

        The commands run as *user* with the caller's environment and, where the login host has
        it, in the caller's folder (else at home).  Only root can call them.
        """
        return make_bin_dir(self._settings, cluster, user)

    def ssh(self, cluster: str) -> access.SshAccess:
        """How to reach the cluster's login host over SSH."""
        address = self._settings.ports.login(self.clusters.index(cluster))
        return access.ssh_access(self.state, cluster, address)

    def home(self, user: str) -> Path:
        """The user's home: the same folder for this process and on every host."""
        return access.home(self.state, user)

    def write(self, user: str, name: str, text: str) -> Path:
        """Writes a file of the user's, below his home; returns its path."""
        ids = access.site_accounts(self.state)[user]
        path = self.home(user)
        for part in Path(name).parts[:-1]:
            path /= part
            path.mkdir(exist_ok=True)
            os.chown(path, *ids)
        path /= Path(name).name
        path.write_text(text)
        os.chown(path, *ids)
        return path

    # --- watching

    def job_state(self, cluster: str, job: str | int) -> str:
        """A job's state as slurmctld knows it, like RUNNING; empty if it knows no such job."""
        done = run_root(self._settings, cluster, "scontrol", "show", "job", "-o", str(job))
        words = done.stdout.split()
        states = [word.partition("=")[2] for word in words if word.startswith("JobState=")]
        return states[0] if states else ""

    def wait_job(self, cluster: str, job: str | int, *states: str, timeout: float = 60) -> str:
        """Waits until the job is in one of *states* (default: has ended), returns its state."""
        seen = ""

        def there() -> bool:
            nonlocal seen
            seen = self.job_state(cluster, job)
            return seen in (states or _ENDED)

        try:
            wait_until(there, timeout, f"job {job} of {cluster}")
        except SiteError as error:
            raise SiteError(f"{error}: it is {seen or 'unknown'}") from None
        return seen

    @staticmethod
    def wait_for(condition: Callable[[], object], seconds: float, what: str) -> None:
        """Waits until *condition* is true; raises, naming *what*, after *seconds*."""
        wait_until(condition, seconds, what)
