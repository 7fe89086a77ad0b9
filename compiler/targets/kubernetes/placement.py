"""Which nodes a pod may go to, and how the pods of one task lie to each other."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.targets.interface import Job
from compiler.targets.kubernetes.accelerators import Selection
from compiler.targets.kubernetes.additions import Addition
from compiler.targets.kubernetes.metadata import JOB_NAME, Names
from compiler.targets.kubernetes.settings import Settings

HOST = "kubernetes.io/hostname"
_ZONE = "topology.kubernetes.io/zone"
_INSTANCE_TYPE = "node.kubernetes.io/instance-type"


def node_selector(job: Job, selection: Selection | None) -> dict[str, str]:
    """Labels that a node must have, all of them."""
    selector = dict(selection.node_selector) if selection else {}
    if job.resources.infra.zone is not None:
        selector[_ZONE] = job.resources.infra.zone
    if job.resources.instance_type is not None:
        selector[_INSTANCE_TYPE] = job.resources.instance_type
    return selector


def affinity(
    job: Job,
    settings: Settings,
    names: Names,
    selection: Selection | None,
    added: Addition,
    host_network: bool,
) -> dict[str, object]:
    """The pod's `affinity`, empty where it needs none."""
    result: dict[str, object] = {}
    terms = _node_terms(settings.allowed_nodes, selection)
    if terms:
        required = {"nodeSelectorTerms": terms}
        result["nodeAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": required}
    if added.pod_affinity:
        near = [dict(item) for item in added.pod_affinity]
        result["podAffinity"] = {"requiredDuringSchedulingIgnoredDuringExecution": near}
    if job.task.num_nodes > 1:
        whole_node = selection is not None and selection.whole_node
        result["podAntiAffinity"] = _spread(names, required=whole_node or host_network)
    return result


def _node_terms(allowed: Mapping[str, object], selection: Selection | None) -> list[dict]:
    """Alternatives, each with all that the accelerator requires.

    Every pair of the dialect's `allowed_nodes.label_selector` is an alternative of its own,
    and so are the named nodes together.
    """
    required = [
        {"key": key, "operator": "In", "values": values}
        for key, values in (selection.required.items() if selection else ())
    ]
    labels = allowed.get("label_selector")
    alternatives = [
        {"key": str(key), "operator": "In", "values": [str(value)]}
        for key, value in (labels.items() if isinstance(labels, Mapping) else ())
    ]
    nodes = allowed.get("names")
    if isinstance(nodes, list) and nodes:
        values = [str(node) for node in nodes]
        alternatives.append({"key": HOST, "operator": "In", "values": values})
    if not alternatives:
        return [{"matchExpressions": required}] if required else []
    return [{"matchExpressions": [*required, item]} for item in alternatives]


def _spread(names: Names, *, required: bool) -> dict[str, object]:
    """Ranks on different nodes: a must where a rank takes a node's devices or its network."""
    term = {
        "labelSelector": {"matchLabels": {JOB_NAME: names.job}},
        "topologyKey": HOST,
    }
    if required:
        return {"requiredDuringSchedulingIgnoredDuringExecution": [term]}
    weighted = {"weight": 100, "podAffinityTerm": term}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [weighted]}
