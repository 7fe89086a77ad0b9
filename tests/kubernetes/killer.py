"""A command line that is killed at its N-th writing request, before or after the server has it.

python -m tests.kubernetes.killer N before|after apply --stack ...
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

from compiler.cli.main import main
from compiler.targets.kubernetes.deployer.client import Client


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _armed(number: int, when: str) -> None:
    """Count requests that change something; the one of that number is the last."""
    original = Client.call
    seen = 0

    def call(self: Client, method: str, *arguments: Any, **query: Any) -> dict[str, Any]:
        nonlocal seen
        seen += method != "GET" and "dryRun" not in query
        is_it = seen == number and method != "GET" and "dryRun" not in query
        if is_it and when == "before":
            _die()
        answer = original(self, method, *arguments, **query)
        if is_it:
            _die()
        return answer

    Client.call = call  # type: ignore[method-assign]


if __name__ == "__main__":
    _armed(int(sys.argv[1]), sys.argv[2])
    sys.exit(main(sys.argv[3:]))
