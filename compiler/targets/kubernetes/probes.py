"""The readiness probe of a service as the kubelet asks it: by HTTP itself, or by a script.

The kubelet sends GET alone and knows no secrets; a body, or a header with a secret in it, is
sent by a script in the pod, which needs nothing but bash.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass

from compiler.model import Task
from compiler.model.service import ReadinessProbe
from compiler.rendering.environment import render

FILE = "probe.sh"
# Seconds of failing probes after which a replica is started again, where the task says nothing.
_FAILING = 180


@dataclass(frozen=True, slots=True)
class Probes:
    """Fields of the container, and the script they call if it takes one."""

    container: dict[str, object]
    script: str | None


def probes(task: Task, probe: ReadinessProbe, port: int, script_folder: str) -> Probes:
    """Startup (the initial delay), readiness, and liveness of a replica."""
    script = None
    asked: dict[str, object]
    if probe.post_data is not None or _secrets(task, list(probe.headers.values())):
        script = _script(task, probe, port)
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
    return Probes(
        {
            "startupProbe": {**common, "failureThreshold": _times(probe.initial_delay, every)},
            "readinessProbe": {**common, "failureThreshold": 1},
            "livenessProbe": {**common, "failureThreshold": _times(failing, every)},
        },
        script,
    )


def _times(seconds: float, every: int) -> int:
    return max(1, math.ceil(seconds / every))


def _secrets(task: Task, texts: list[str]) -> list[str]:
    """Names of secrets that the texts refer to."""
    return [
        name
        for name, secret in task.secrets.items()
        if secret.mount_path is None
        and any(f"${name}" in text or f"${{{name}}}" in text for text in texts)
    ]


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
            "headers": [f"{name}: {value}" for name, value in headers.items()],
            "body": text,
            "secrets": _secrets(task, [*headers.values(), text]),
        },
    )
