"""The transport of `deployer: local`: triplane itself runs on a login node."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Sequence

from compiler.diagnostics import TargetUnreachable
from compiler.targets.interface import Streams
from compiler.targets.slurm.deployer.transport import (
    Data,
    Result,
    feed,
    framed,
    not_started,
    unframed,
)

# What a session over SSH would have, too: jobs inherit the environment of sbatch, and what
# runs must not depend on who applied it from which shell.
_KEPT = ("HOME", "LANG", "LOGNAME", "PATH", "SHELL", "SLURM_CONF", "TZ", "USER", "KRB5CCNAME")


class LocalTransport:
    """Runs snippets as the current user on this machine; `shell` reads them from its stdin."""

    def __init__(self, target: str, shell: Sequence[str] = ("bash", "-s")) -> None:
        self._target = target
        self._shell = tuple(shell)

    def run(self, script: str, *args: str, data: Data = b"") -> Result:
        environment = _environment()
        try:
            process = subprocess.Popen(
                self._shell,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                cwd=environment.get("HOME", "/"),
                start_new_session=True,  # an interrupt does not cut a snippet in two
            )
        except OSError as error:
            raise TargetUnreachable(self._target, f"cannot start bash: {error}") from None
        stdin, stdout_pipe, stderr_pipe = process.stdin, process.stdout, process.stderr
        assert stdin and stdout_pipe and stderr_pipe
        errors: list[bytes] = []
        streams = (
            threading.Thread(
                target=feed,
                args=(stdin.write, stdin.close, framed(script, args, data)),
                daemon=True,
            ),
            threading.Thread(target=lambda: errors.append(stderr_pipe.read()), daemon=True),
        )
        for stream in streams:
            stream.start()
        stdout = stdout_pipe.read()
        code = process.wait()
        streams[1].join()
        stderr = b"".join(errors)
        result = unframed(stdout, stderr, code)
        if result is None:
            raise TargetUnreachable(self._target, not_started(stdout, stderr, code))
        return result

    def attach(self, script: str, streams: Streams) -> int:
        stdin = subprocess.DEVNULL if streams.stdin is None else streams.stdin
        done = subprocess.run(
            [*self._shell[:-1], script],
            stdin=stdin,
            stdout=streams.stdout,
            stderr=streams.stderr,
            env=_environment(),
            check=False,
        )
        return done.returncode

    def close(self) -> None:
        """Nothing is kept open."""


def _environment() -> dict[str, str]:
    return {name: os.environ[name] for name in _KEPT if name in os.environ}
