"""A process that executes one step and is killed on the way.

It kills itself with SIGKILL when `kill_after` snippets have been answered, or, with
`in_flight`, that many seconds after the next one went to the login node.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Mapping
from dataclasses import dataclass

from compiler.model import Deployer as DeployerKind
from compiler.targets.interface import Step
from compiler.targets.slurm.deployer import SlurmDeployer
from compiler.targets.slurm.deployer.ssh import SshTransport
from compiler.targets.slurm.deployer.transport import Data, Result
from tests.slurm.deployer_support import stack, target


@dataclass(frozen=True)
class Request:
    set_name: str
    cluster: str
    options: Mapping[str, object]
    step: Step
    kill_after: int
    in_flight: float | None = None


class _Mortal(SshTransport):
    left = 0
    in_flight: float | None = None

    def run(self, script: str, *args: str, data: Data = b"") -> Result:
        kill = (os.getpid(), signal.SIGKILL)
        if self.left == 0 and self.in_flight is None:
            os.kill(*kill)
        if self.left == 0:
            self._open()
            threading.Timer(self.in_flight or 0, os.kill, kill).start()
        result = super().run(script, *args, data=data)
        self.left -= 1
        if self.left == 0 and self.in_flight is None:
            os.kill(*kill)
        return result


def execute_and_die(request: Request, environment: Mapping[str, str]) -> None:
    os.environ.update(environment)
    transport = _Mortal(request.cluster, request.options)
    transport.left, transport.in_flight = request.kill_after, request.in_flight
    spec = target(request.cluster, DeployerKind.SSH, **request.options)
    SlurmDeployer(stack(request.set_name), spec, transport).execute(request.step, lambda _: None)
