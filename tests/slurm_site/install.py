"""What the site needs from the machine: saying, installing, or making it in a Debian tree."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from .hosts import PATH, SiteError

PACKAGES = (
    "munge",
    "slurmctld",
    "slurmd",
    "slurm-client",
    "slurmdbd",
    "slurm-wlm-basic-plugins",
    "slurm-wlm-mysql-plugin",
    "mariadb-server",
    "mariadb-client",
    "openssh-server",
    "openssh-client",
    "sudo",
    "gcc",
    "libc6-dev",
    "libslurm-dev",  # spank.h, for the stand-in of pyxis
    "util-linux",
    "mount",
    "iproute2",
    "hostname",
    "procps",
)
_COMMANDS = {
    "munged": "munge",
    "slurmctld": "slurmctld",
    "slurmd": "slurmd",
    "sbatch": "slurm-client",
    "sshd": "openssh-server",
    "sudo": "sudo",
    "gcc": "gcc",
    "hostname": "hostname",
    "ps": "procps",
}
_ACCOUNTING_COMMANDS = {
    "slurmdbd": "slurmdbd",
    "mariadbd": "mariadb-server",
}
_MACHINE_COMMANDS = {
    "unshare": "util-linux",
    "setpriv": "util-linux",
    "mount": "mount",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
}
_POLICY = Path("/usr/sbin/policy-rc.d")


def missing(root: Path | None = None, *, accounting: bool = True) -> list[str]:
    """Why a site cannot run here, a sentence each; empty if it can."""
    reasons = []
    if os.geteuid() != 0:
        reasons.append("only root can start a Slurm site (it makes namespaces, switches users)")
    packages = missing_packages(root, accounting=accounting)
    if packages:
        remedy = "python -m tests.slurm_site " + (f"make-root {root}" if root else "install")
        reasons.append(f"packages not installed: {' '.join(packages)} (see `{remedy}`)")
    if not reasons:
        probe = ["unshare", "--mount", "--uts", "--propagation", "private"]
        probe += ["mount", "-t", "tmpfs", "probe", "/run"]
        done = subprocess.run(probe, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            reasons.append(f"no new mount namespace (CAP_SYS_ADMIN?): {done.stderr.strip()}")
    return reasons


def missing_packages(root: Path | None = None, *, accounting: bool = True) -> list[str]:
    """The Debian packages that the machine, or the tree *root*, lacks."""
    packages = {p for c, p in _MACHINE_COMMANDS.items() if not shutil.which(c, path=PATH)}
    tree = root or Path("/")
    wanted = _COMMANDS | (_ACCOUNTING_COMMANDS if accounting else {})
    folders = [tree / folder.lstrip("/") for folder in PATH.split(":")]
    for command, package in wanted.items():
        # lexists: a tree's links to /etc/alternatives lead nowhere from outside
        if not any(os.path.lexists(folder / command) for folder in folders):
            packages.add(package)
    if not (tree / "usr/include/slurm/spank.h").exists():
        packages.add("libslurm-dev")
    if accounting and not list(tree.glob("usr/lib/*/slurm*/accounting_storage_mysql.so")):
        packages.add("slurm-wlm-mysql-plugin")
    return sorted(packages)


def install() -> None:
    """Installs the packages with apt-get.  No daemon is started by that."""
    if os.geteuid() != 0:
        command = f"apt-get install --no-install-recommends {' '.join(missing_packages())}"
        raise SiteError(f"only root can install packages; run as root:\n  {command}")
    if not shutil.which("apt-get"):
        raise SiteError("there is no apt-get here; the site needs Debian's (or Ubuntu's) packages")
    _apt_get("update")
    with _no_daemons():
        _apt_get("install", "-y", "--no-install-recommends", *PACKAGES)
    reasons = missing()
    if reasons:
        raise SiteError("installed, and a site still cannot run:\n  " + "\n  ".join(reasons))


def _apt_get(*words: str) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "-q", *words]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise SiteError(f"apt-get {words[0]} failed with exit code {done.returncode}")


@contextlib.contextmanager
def _no_daemons() -> Iterator[None]:
    # Debian's packages ask this script whether they may start their service.
    if _POLICY.exists():
        yield
        return
    _POLICY.write_text("#!/bin/sh\nexit 101\n")
    _POLICY.chmod(0o755)
    try:
        yield
    finally:
        _POLICY.unlink()


def make_root(root: Path, suite: str = "trixie") -> None:
    """Makes a Debian tree with that suite's Slurm (trixie: 24.11), unless it is there."""
    root = root.resolve()
    if not missing(root):
        return
    make_tree(root, suite, PACKAGES)
    (root / "etc/hosts").touch()  # mount points
    (root / "etc/slurm").mkdir(exist_ok=True)


def make_tree(root: Path, suite: str, packages: Sequence[str]) -> None:
    """Makes a Debian tree: what apt needs, *packages*, and what these cannot do without."""
    if os.geteuid() != 0:
        raise SiteError("only root can make a Debian tree")
    if not shutil.which("mmdebstrap"):
        _apt_get("update")
        _apt_get("install", "-y", "--no-install-recommends", "mmdebstrap")
    command = [
        "mmdebstrap",
        "--variant=apt",
        '--aptopt=Acquire::Languages "none"',
        '--aptopt=APT::Install-Recommends "false"',
        f"--include={','.join(packages)}",
        suite,
        str(root),
    ]
    if subprocess.run(command, stdin=subprocess.DEVNULL, check=False).returncode != 0:
        raise SiteError("mmdebstrap failed")


def slurm_version(root: Path | None = None) -> tuple[int, int]:
    """The Slurm release, like (22, 5) or (24, 11)."""
    prefix = ["chroot", str(root)] if root else []
    command = [*prefix, "slurmctld", "-V"]
    output = subprocess.run(
        command, capture_output=True, text=True, check=True, env={"PATH": PATH}
    ).stdout
    match = re.search(r"(\d+)\.(\d+)", output)
    if not match:
        raise SiteError(f"no version in {output!r}")
    return int(match[1]), int(match[2])
