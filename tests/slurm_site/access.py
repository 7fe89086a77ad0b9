"""The site's users, their keys, and how to reach a login host over SSH."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import config
from .model import FIRST_UID, USERS, Address

_DATABASES = ("passwd", "group", "shadow", "gshadow")


@dataclass(frozen=True)
class SshAccess:
    """What an SSH client needs for one cluster's login host."""

    cluster: str
    host: str
    port: int
    known_hosts: Path
    keys: dict[str, Path]
    """user -> private key file (readable by root only)"""

    def config(self, user: str = "svc", alias: str | None = None) -> str:
        """A ``Host`` block for ssh_config, called *alias* (the cluster's name unless given)."""
        return "\n".join(
            [
                f"Host {alias or self.cluster}",
                f"  HostName {self.host}",
                f"  Port {self.port}",
                f"  User {user}",
                f"  IdentityFile {self.keys[user]}",
                "  IdentitiesOnly yes",
                "  BatchMode yes",
                "  StrictHostKeyChecking yes",
                f"  UserKnownHostsFile {self.known_hosts}",
                "  GlobalKnownHostsFile /dev/null",
                "",
            ]
        )

    def argv(self, user: str, *command: str) -> list[str]:
        """An ``ssh`` command line; *command* goes through the user's shell, as always with ssh."""
        config_file = self.known_hosts.with_name(f"config-{user}")
        return ["ssh", "-F", str(config_file), self.cluster, *command]


def accounts_of(root: Path | None) -> dict[str, tuple[int, int]]:
    """name -> (uid, gid) of the machine, or of the Debian tree *root*."""
    return _parse((root or Path("/")) / "etc/passwd")


def site_accounts(state: Path) -> dict[str, tuple[int, int]]:
    """name -> (uid, gid) as the site's hosts see it."""
    return _parse(state / "etc/passwd")


def _parse(passwd: Path) -> dict[str, tuple[int, int]]:
    rows = [line.split(":") for line in passwd.read_text().splitlines() if line.count(":") == 6]
    return {row[0]: (int(row[2]), int(row[3])) for row in rows}


def home(state: Path, user: str) -> Path:
    """The user's home, the same on all hosts."""
    return state / "home" / user


def make_users(state: Path, root: Path | None) -> None:
    """Writes the site's passwd, group, shadow, gshadow and sudoers.d, and homes with keys."""
    etc, keys = state / "etc", state / "ssh"
    (etc / "sudoers.d").mkdir(parents=True, exist_ok=True)
    keys.mkdir(exist_ok=True)
    taken = {ids[0] for name, ids in accounts_of(root).items() if name not in USERS}
    free = (uid for uid in range(FIRST_UID, FIRST_UID + 10000) if uid not in taken)
    entries: dict[str, list[str]] = {name: [] for name in _DATABASES}
    for user in USERS:
        uid = next(free)
        entries["passwd"].append(f"{user}:x:{uid}:{uid}::{home(state, user)}:/bin/bash")
        entries["group"].append(f"{user}:x:{uid}:")
        # "*", not "!": to sshd the latter is a locked account.
        entries["shadow"].append(f"{user}:*:19000:0:99999:7:::")
        entries["gshadow"].append(f"{user}:!::")
        _make_home(home(state, user), make_key(keys / f"id_{user}"), uid)
    for name in _DATABASES:
        source = (root or Path("/")) / "etc" / name
        old = [line for line in source.read_text().splitlines() if line.split(":")[0] not in USERS]
        target = etc / name
        target.unlink(missing_ok=True)
        target.touch(mode=0o600)
        facts = source.stat()
        os.chown(target, facts.st_uid, facts.st_gid)
        target.chmod(facts.st_mode & 0o777)
        target.write_text("\n".join([*old, *entries[name], ""]))
    sudoers = etc / "sudoers.d/slurm-site"
    sudoers.write_text(config.SUDOERS)
    sudoers.chmod(0o440)


def _make_home(folder: Path, public_key: Path, uid: int) -> None:
    ssh = folder / ".ssh"
    ssh.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    ssh.chmod(0o700)
    authorized = ssh / "authorized_keys"
    shutil.copy(public_key, authorized)
    authorized.chmod(0o600)
    for path in (folder, ssh, authorized):
        os.chown(path, uid, uid)


def make_key(private: Path) -> Path:
    """Makes an SSH key pair unless it is there, and returns the public key's path."""
    public = private.with_name(f"{private.name}.pub")
    if not public.exists():
        private.unlink(missing_ok=True)
        what = ["-q", "-t", "ed25519", "-N", "", "-C", private.name, "-f", str(private)]
        subprocess.run(["ssh-keygen", *what], stdin=subprocess.DEVNULL, check=True)
    return public


def write_client_files(accesses: list[SshAccess], host_keys: dict[str, Path]) -> None:
    """Writes known_hosts, and for each user an ssh_config with a Host per cluster."""
    lines = []
    for access in accesses:
        kind, key = host_keys[access.cluster].read_text().split()[:2]
        lines.append(f"[{access.host}]:{access.port} {kind} {key}\n")
    accesses[0].known_hosts.write_text("".join(lines))
    for user in USERS:
        text = "\n".join(access.config(user) for access in accesses)
        accesses[0].known_hosts.with_name(f"config-{user}").write_text(text)


def ssh_access(state: Path, cluster: str, address: Address) -> SshAccess:
    """The facts for a cluster whose sshd listens at *address*."""
    folder = state / "ssh"
    keys = {user: folder / f"id_{user}" for user in USERS}
    return SshAccess(cluster, address.host, address.port, folder / "known_hosts", keys)
