"""The transport of `deployer: ssh`: one fabric connection, opened when first needed.

How the login node is reached comes from the target's options and the user's ssh configuration
(aliases, ProxyJump, ProxyCommand, identity files); `TRIPLANE_SSH_CONFIG` names another file
than `~/.ssh/config`. Host keys are checked against the known_hosts files and never learnt,
unless the configuration says so for that host.
"""

from __future__ import annotations

import logging
import os
import threading
import weakref
from collections.abc import Mapping
from typing import TYPE_CHECKING

from compiler.diagnostics import TargetUnreachable
from compiler.targets.interface import Streams
from compiler.targets.slurm.deployer.transport import (
    Data,
    Result,
    command,
    feed,
    framed,
    not_started,
    unframed,
)

if TYPE_CHECKING:
    import fabric

CONNECT_SECONDS = 15
# A login node under load takes connections long before its sshd gets to answer them.
PATIENCE_SECONDS = 60
_KEEPALIVE_SECONDS = 30
# What paramiko says of a port that closes at once, and of one that stays silent.
_NO_SSHD = ("protocol banner", "No existing session")


class SshTransport:
    """Runs snippets on `host` (of `options`, else the target's key), as the login or as
    `account`, which it may become through sudo."""

    def __init__(
        self, target: str, options: Mapping[str, object], account: str | None = None
    ) -> None:
        self._target = target
        self._account = account
        self._options = options
        self._connection: fabric.Connection | None = None

    def run(self, script: str, *args: str, data: Data = b"") -> Result:
        from paramiko import SSHException

        connection = self._open()
        try:
            channel = connection.create_session()
            try:
                channel.exec_command(command("bash", "-s", account=self._account))
                errors: list[bytes] = []
                streams = (
                    threading.Thread(
                        target=feed,
                        args=(channel.sendall, channel.shutdown_write, framed(script, args, data)),
                        daemon=True,
                    ),
                    threading.Thread(
                        target=lambda: errors.append(channel.makefile_stderr("rb").read()),
                        daemon=True,
                    ),
                )
                for stream in streams:
                    stream.start()
                stdout = channel.makefile("rb").read()
                streams[1].join()
                code = channel.recv_exit_status()
            finally:
                channel.close()
        except (SSHException, OSError, EOFError) as error:
            self.close()
            raise TargetUnreachable(self._target, f"the connection was lost: {error}") from None
        if code < 0:
            self.close()
            raise TargetUnreachable(self._target, "the connection was lost")
        stderr = b"".join(errors)
        result = unframed(stdout, stderr, code)
        if result is None:
            raise TargetUnreachable(self._target, not_started(stdout, stderr, code))
        return result

    def attach(self, script: str, streams: Streams) -> int:
        import shutil

        from paramiko import SSHException

        from compiler.targets.slurm.deployer.pump import pump

        connection = self._open()
        try:
            channel = connection.create_session()
            try:
                if streams.terminal:
                    size = shutil.get_terminal_size()
                    term = os.environ.get("TERM", "vt100")
                    channel.get_pty(term, size.columns, size.lines)
                channel.exec_command(command("bash", script, account=self._account))
                code = pump(channel, streams)
            finally:
                channel.close()
        except (SSHException, OSError, EOFError) as error:
            self.close()
            raise TargetUnreachable(self._target, f"the connection was lost: {error}") from None
        if code < 0:
            self.close()
            raise TargetUnreachable(self._target, "the connection was lost")
        return code

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _open(self) -> fabric.Connection:
        from compiler.targets.slurm.deployer import ssh_config

        if self._connection is not None and self._connection.is_connected:
            return self._connection
        import paramiko

        _keep_quiet()
        connection = ssh_config.connection(
            str(self._options.get("host") or self._target),
            user=self._options.get("user"),
            port=self._options.get("port"),
            identity_file=self._options.get("identity_file"),
            config_file=os.environ.get("TRIPLANE_SSH_CONFIG"),
            timeout=CONNECT_SECONDS,
            patience=PATIENCE_SECONDS,
        )
        where = f"{connection.user}@{connection.host}:{connection.port}"
        try:
            connection.open()
        except (paramiko.SSHException, OSError, EOFError, ValueError) as error:
            connection.close()
            raise TargetUnreachable(self._target, f"{where}: {_reason(error)}") from None
        connection.transport.set_keepalive(_KEEPALIVE_SECONDS)
        self._connection = connection
        # Its thread would keep the connection alive when nobody has it any more.
        weakref.finalize(self, connection.close)
        return connection


def _keep_quiet() -> None:
    """What goes wrong is said once, in our words: without a handler of its own paramiko's threads
    would print theirs to stderr."""
    log = logging.getLogger("paramiko")
    if not log.handlers:
        log.addHandler(logging.NullHandler())


def _reason(error: Exception) -> str:
    """What to tell people of a connection that did not come about."""
    import socket

    import paramiko
    from paramiko.ssh_exception import NoValidConnectionsError

    match error:
        case paramiko.BadHostKeyException():
            return (
                "the host key is not the one in known_hosts; if the host was set up anew, "
                f"remove the old key (ssh-keygen -R {error.hostname})"
            )
        case paramiko.PasswordRequiredException():
            return "the private key has a passphrase and no agent holds it (ssh-add)"
        case paramiko.AuthenticationException():
            return "the login was refused: none of the keys is accepted"
        case NoValidConnectionsError():
            return "; ".join(sorted({str(item.strerror) for item in error.errors.values()})).lower()
        case socket.gaierror():
            return f"the host name is not known ({error.strerror})"
        case TimeoutError():
            return f"no answer within {CONNECT_SECONDS} s"
        case paramiko.SSHException() if any(text in str(error) for text in _NO_SSHD):
            return (
                "it takes connections and does not answer as sshd does: the host is overloaded, "
                "or something else listens there"
            )
        case paramiko.SSHException() if "not found in known_hosts" in str(error):
            return "the host key is not in known_hosts; connect once with ssh and check it"
    return str(error) or type(error).__name__
