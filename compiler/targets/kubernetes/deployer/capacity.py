"""Free accelerators of a cluster: what nodes can hold less what pods ask for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from compiler.targets.interface import Capacity
from compiler.targets.kubernetes.accelerators import FAMILIES, names_of_devices

_ENDED = ("Succeeded", "Failed")


def free(
    nodes: Iterable[Mapping[str, Any]], pods: Iterable[Mapping[str, Any]], scheme: str
) -> Capacity:
    """Accelerators by canonical name over all nodes that take pods; `scheme` names the labels."""
    resources = {row.resource for row in FAMILIES.values()}
    used: dict[str, Counter[str]] = {}
    for pod in pods:
        node = pod["spec"].get("nodeName")
        if node and pod.get("status", {}).get("phase") not in _ENDED:
            used.setdefault(node, Counter()).update(_asked(pod, resources))
    found: Counter[str] = Counter()
    count = shut = 0
    for node in nodes:
        count += 1
        if not _takes_pods(node):
            shut += 1
            continue
        taken = used.get(node["metadata"]["name"], Counter())
        allocatable = node.get("status", {}).get("allocatable") or {}
        for resource in resources & allocatable.keys():
            left = max(0, int(allocatable[resource]) - taken[resource])
            # a label may stand for several names of the catalogue: any of them can be asked for
            for name in names_of_devices(resource, node["metadata"].get("labels") or {}, scheme):
                found[name] += left
    detail = f"{count} nodes" + (f", {shut} of them take no pods now" if shut else "")
    return Capacity(dict(sorted(found.items())), detail)


def _asked(pod: Mapping[str, Any], resources: Iterable[str]) -> Counter[str]:
    asked: Counter[str] = Counter()
    for container in pod["spec"].get("containers") or ():
        wanted = (container.get("resources") or {}).get("requests") or {}
        for resource in resources:
            asked[resource] += int(wanted.get(resource, 0))
    return asked


def _takes_pods(node: Mapping[str, Any]) -> bool:
    if node["spec"].get("unschedulable"):
        return False
    conditions = node.get("status", {}).get("conditions") or ()
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
