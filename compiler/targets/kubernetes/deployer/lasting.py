"""What is there until it is removed: services and the claims of volumes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from compiler.planning.states import RunState
from compiler.targets.kubernetes.deployer.verdict import Verdict, short, waiting


def serving(body: Mapping[str, Any], pods: Sequence[Mapping[str, Any]]) -> Verdict:
    """The state of a Deployment: running once a replica of any version answers."""
    spec, status = body["spec"], body.get("status") or {}
    if body["metadata"].get("deletionTimestamp"):
        return Verdict(RunState.RUNNING, "its Deployment is being deleted")
    wanted = int(spec.get("replicas", 1))
    ready, new = (int(status.get(key) or 0) for key in ("readyReplicas", "updatedReplicas"))
    is_seen = int(status.get("observedGeneration") or 0) >= int(body["metadata"]["generation"])
    words = [f"{ready} of {wanted} replicas ready"]
    if not is_seen or new < wanted:
        words.append(f"{new if is_seen else 0} of them new")
    current = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    reasons = [said for pod in sorted(current, key=_name) if (said := waiting(pod, wanted))]
    held = {item["type"]: item for item in status.get("conditions") or ()}
    for kind, is_bad in (("Progressing", "False"), ("ReplicaFailure", "True")):
        condition = held.get(kind)
        if condition and condition["status"] == is_bad:
            reasons.append(str(condition.get("message", "")))
    state = RunState.RUNNING if ready or not wanted else RunState.PENDING
    return Verdict(state, short("; ".join([", ".join(words), *reasons[:2]])))


def claimed(body: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> Verdict:
    """The state of a claim: running once it is bound."""
    phase = str((body.get("status") or {}).get("phase") or "Pending")
    if phase == "Lost":
        return Verdict(RunState.VANISHED, "its volume is lost", final=True)
    if body["metadata"].get("deletionTimestamp"):
        return Verdict(RunState.RUNNING, "it is being deleted")
    if phase == "Bound":
        return Verdict(RunState.RUNNING, "bound")
    said = str(events[-1].get("message", "")) if events else "not bound yet"
    return Verdict(RunState.PENDING, short(said))


def _name(pod: Mapping[str, Any]) -> str:
    return str(pod["metadata"].get("name", ""))
