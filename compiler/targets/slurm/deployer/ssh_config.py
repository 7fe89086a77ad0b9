"""From target options and ssh configuration to a fabric connection that checks host keys."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import fabric
    import paramiko

_SYSTEM_CONFIG = Path("/etc/ssh/ssh_config")
_SYSTEM_KNOWN_HOSTS = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"
_USER_KNOWN_HOSTS = "~/.ssh/known_hosts ~/.ssh/known_hosts2"


def connection(
    host: str,
    *,
    user: object = None,
    port: object = None,
    identity_file: object = None,
    config_file: str | None = None,
    timeout: int = 15,
    patience: int = 60,
) -> fabric.Connection:
    """A connection that is not open yet. `host` may be an alias of the ssh configuration.

    `timeout` seconds are for the connection itself, `patience` for each answer of the host.
    """
    import fabric
    import paramiko

    ssh = paramiko.SSHConfig()
    for path in (Path(config_file or "~/.ssh/config").expanduser(), _SYSTEM_CONFIG):
        ssh.parse(read_config(path))
    # Lazy, as fabric's own configuration files are none of our inputs.
    config = fabric.Config(ssh_config=ssh, lazy=True)
    found = ssh.lookup(host)
    arguments: dict[str, object] = {"banner_timeout": patience, "auth_timeout": patience}
    if identity_file:
        arguments["key_filename"] = [str(Path(str(identity_file)).expanduser())]
    if identity_file or found.get("identitiesonly") == "yes":
        arguments["look_for_keys"] = False
    result = fabric.Connection(
        host,
        user=str(user) if user else None,
        port=int(str(port)) if port else None,
        config=config,
        connect_timeout=int(found.get("connecttimeout", timeout)),
        connect_kwargs=arguments,
    )
    hop: object = result
    while isinstance(hop, fabric.Connection):
        _check_host_keys(hop)
        hop.connect_timeout = hop.connect_timeout or timeout
        hop = hop.gateway
    return result


def read_config(path: Path, depth: int = 0) -> list[str]:
    """Lines of an ssh_config with its `Include`s put in, which paramiko does not know."""
    lines: list[str] = []
    block = "Host *"
    if not path.is_file() or depth > 8:
        return lines
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        words = re.split(r"\s*=\s*|\s+", line.strip(), maxsplit=1)
        keyword = words[0].lower()
        if keyword in ("host", "match"):
            block = line.strip()
        if keyword != "include":
            lines.append(line)
            continue
        for pattern in words[1].split() if len(words) > 1 else ():
            absolute = Path(pattern.strip('"')).expanduser()
            if not absolute.is_absolute():
                absolute = Path("~/.ssh").expanduser() / absolute
            for found in sorted(Path("/").glob(str(absolute).lstrip("/"))):
                lines.extend(read_config(found, depth + 1))
        lines.append(block)  # what follows the Include belongs to the block around it
    return lines


def _check_host_keys(hop: fabric.Connection) -> None:
    """Let fabric, which learns every host's key, check it instead."""
    import paramiko

    client: paramiko.SSHClient = hop.client
    settings = hop.ssh_config
    for names, default in (
        (settings.get("userknownhostsfile"), _USER_KNOWN_HOSTS),
        (settings.get("globalknownhostsfile"), _SYSTEM_KNOWN_HOSTS),
    ):
        for name in (names or default).split():
            path = Path(name).expanduser()
            if path.is_file():
                client.load_system_host_keys(str(path))
    accepts_new = settings.get("stricthostkeychecking", "ask") in ("no", "off", "accept-new")
    client.set_missing_host_key_policy(
        paramiko.AutoAddPolicy() if accepts_new else paramiko.RejectPolicy()
    )
