"""Command lines that run as some user on a cluster's login host."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from . import access
from .hosts import PATH, SiteError
from .model import CLUSTERS
from .settings import Settings

_USER_PATH = "/usr/local/bin:/usr/bin:/bin"
_CLIENTS = (
    "sacct",
    "sacctmgr",
    "salloc",
    "sbatch",
    "scancel",
    "scontrol",
    "sinfo",
    "sprio",
    "squeue",
    "srun",
    "sstat",
)


def login_argv(
    settings: Settings,
    cluster: str,
    user: str,
    command: Sequence[str | Path],
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
) -> list[str]:
    """*command* as *user* (root included), in a clean environment plus *env*, from *cwd*."""
    home = "/root" if user == "root" else str(access.home(settings.state, user))
    values = {
        "HOME": home,
        "USER": user,
        "LOGNAME": user,
        "SHELL": "/bin/bash",
        "PATH": PATH if user == "root" else _USER_PATH,
        "LANG": "C.UTF-8",
        **(env or {}),
    }
    folder = cwd or ("/" if user == "root" else home)
    clean = ["env", "-i", f"--chdir={folder}", *(f"{k}={v}" for k, v in values.items())]
    return _as_user(settings, cluster, user, [*clean, *command])


def _as_user(
    settings: Settings, cluster: str, user: str, command: Sequence[str | Path]
) -> list[str]:
    if cluster not in settings.clusters:
        raise SiteError(f"no cluster {cluster!r}; there are {', '.join(settings.clusters)}")
    switch: list[str | Path] = []
    if user != "root":
        uid, gid = access.site_accounts(settings.state)[user]
        switch = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--init-groups"]
    host = CLUSTERS[cluster].host("login")
    return settings.context.argv(host, [*switch, *command], conf=settings.conf(cluster))


def run_root(
    settings: Settings, cluster: str, *command: str | Path
) -> subprocess.CompletedProcess[str]:
    """Runs a command as root and returns what came of it, whatever that is."""
    argv = login_argv(settings, cluster, "root", command)
    return subprocess.run(
        argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False
    )


def make_bin_dir(settings: Settings, cluster: str, user: str) -> Path:
    """Writes a script for each of Slurm's client commands, and returns their folder."""
    folder = settings.state / "bin" / f"{cluster}-{user}"
    folder.mkdir(parents=True, exist_ok=True)
    home = access.home(settings.state, user)
    values = {"HOME": home, "USER": user, "LOGNAME": user, "PATH": _USER_PATH}
    keep = ["env", *(f"{name}={value}" for name, value in values.items())]
    there = ["sh", "-c", 'cd "$0" 2>/dev/null || cd; exec "$@"']
    prefix = shlex.join(_as_user(settings, cluster, user, [*keep, *there]))
    for name in _CLIENTS:
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {prefix} "$PWD" {name} "$@"\n')
        script.chmod(0o755)
    return folder
