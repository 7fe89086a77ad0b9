"""What is said of a run: its state, the platform's words for it, why a pod waits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compiler.planning.states import RunState
from compiler.targets.kubernetes.deployer.workloads import who

# Reasons of a waiting container that are no news: every pod passes through them.
_PASSING = frozenset(("ContainerCreating", "PodInitializing"))
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Verdict:
    """`final`: it will never be otherwise. `submitted`: the run's Job was made once."""

    state: RunState
    detail: str = ""
    exit_code: int | None = None
    final: bool = False
    submitted: bool = True


def waiting(pod: Mapping[str, Any], ranks: int) -> str:
    """Why a pod does not run, in the platform's words; empty where nothing is wrong."""
    status = pod.get("status", {})
    prefix = f"{who(pod)}: " if ranks > 1 else ""
    scheduled = next(
        (item for item in status.get("conditions") or () if item["type"] == "PodScheduled"), None
    )
    if scheduled and scheduled["status"] == "False":
        return f"{prefix}{scheduled.get('reason', '')}: {scheduled.get('message', '')}"
    every = [
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ]
    for container in every:
        held = (container.get("state") or {}).get("waiting")
        if held and held.get("reason") not in _PASSING:
            said = held.get("message") or ""
            return f"{prefix}{held.get('reason', '')}" + (f": {said}" if said else "")
    return ""


def short(text: object) -> str:
    words = re.sub(r"\s+", " ", str(text)).strip()
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}..."
