"""The readiness probe of a service as the kubelet asks it: by HTTP itself, or by a script.

The kubelet sends GET alone and knows no secrets; a body, or a header with a secret in it, is
sent by a script in the pod, which needs nothing but bash.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from compiler.model import Task
from compiler.model.service import ReadinessProbe
from compiler.rendering.environment import render
from compiler.targets.kubernetes.additions import Addition

FILE = "probe.sh"
# Seconds of failing probes after which a replica is started again, where the task says nothing.
_FAILING = 180
_NAME = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a text: as it stands, or the name of the secret whose value stands there."""

    text: str
    is_secret: bool = False


def probes(task: Task, probe: ReadinessProbe, port: int, script_folder: str) -> Addition:
    """Startup (the initial delay), readiness, and liveness of a replica."""
    scripts: dict[str, str] = {}
    asked: dict[str, object]
    if probe.post_data is not None or _names_secrets(task, probe.headers.values()):
        scripts[FILE] = _script(task, probe, port)
        asked = {"exec": {"command": ["/bin/bash", f"{script_folder}/{FILE}"]}}
    else:
        get: dict[str, object] = {"path": probe.path, "port": port}
        if probe.headers:
            get["httpHeaders"] = [
                {"name": name, "value": value} for name, value in probe.headers.items()
            ]
        asked = {"httpGet": get}
    every = max(1, math.ceil(probe.interval))
    failing = _FAILING if probe.failure_threshold is None else probe.failure_threshold
    timing = {"periodSeconds": every, "timeoutSeconds": max(1, math.ceil(probe.timeout))}
    common = {**asked, **timing}
    return Addition(
        container={
            "startupProbe": {**common, "failureThreshold": _times(probe.initial_delay, every)},
            "readinessProbe": {**common, "failureThreshold": 1},
            "livenessProbe": {**common, "failureThreshold": _times(failing, every)},
        },
        scripts=scripts,
    )


def _times(seconds: float, every: int) -> int:
    return max(1, math.ceil(seconds / every))


def _names_secrets(task: Task, texts: Iterable[str]) -> bool:
    return any(piece.is_secret for text in texts for piece in _pieces(task, text))


def _pieces(task: Task, text: str) -> list[_Piece]:
    """A text cut where it names a secret, as `$NAME` or `${NAME}`; other names stay as they are,
    and so does whatever a secret's value looks like."""
    found: list[_Piece] = []
    done = 0
    for match in _NAME.finditer(text):
        name = match[1] or match[2]
        secret = task.secrets.get(name)
        if secret is None or secret.mount_path is not None:
            continue
        found += [_Piece(text[done : match.start()]), _Piece(name, is_secret=True)]
        done = match.end()
    return [piece for piece in (*found, _Piece(text[done:])) if piece.text]


def _script(task: Task, probe: ReadinessProbe, port: int) -> str:
    body = probe.post_data
    text = body if isinstance(body, str) else json.dumps(body) if body is not None else ""
    headers = dict(probe.headers)
    if body is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = "application/json"
    return render(
        "k8s/probe.sh.j2",
        {
            "method": "GET" if body is None else "POST",
            "path": probe.path,
            "port": port,
            "headers": [_pieces(task, f"{name}: {value}") for name, value in headers.items()],
            "body": _pieces(task, text),
        },
    )
