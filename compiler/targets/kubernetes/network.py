"""`network_tier: best`: which fast network the nodes have, and what a pod needs to use it.

Nothing falls back to TCP in silence: where no fabric or no count is known, that is an error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from compiler.catalog.aws import instance_type
from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import kubernetes_features as codes
from compiler.model import Resources, TargetSpec
from compiler.targets.interface import Job
from compiler.targets.kubernetes.additions import NOTHING, Addition, combined
from compiler.targets.kubernetes.efa import efa_count
from compiler.targets.kubernetes.fabrics import FABRICS, Wanted
from compiler.targets.kubernetes.gke_fabrics import DEVICES, GKE_FABRIC_OF, GKE_FABRICS
from compiler.targets.kubernetes.metadata import JOB_NAME, Names
from compiler.targets.kubernetes.settings import Settings

_ZONE = "topology.kubernetes.io/zone"
# Nodes labelled in a cloud's own way are that cloud's.
_BY_SCHEME = {"karpenter": "efa", "coreweave": "coreweave", "nebius": "nebius", "gke": "gke"}


def fabric_of(resources: Resources, target: TargetSpec, scheme: str | None) -> str | None:
    """The fabric's name in FABRICS: what the target says, else what its labels or the instance
    type tell; None where nothing does, or GKE has none with this accelerator."""
    named = _option(target, "kind")
    if named is None and resources.instance_type and instance_type(resources.instance_type):
        named = "efa"
    named = named or _BY_SCHEME.get(scheme or "")
    if named == "gke":
        return GKE_FABRIC_OF.get(resources.accelerator.name) if resources.accelerator else None
    return named


def network_faults(
    resources: Resources, target: TargetSpec, scheme: str | None
) -> list[Diagnostic]:
    """Why the candidate cannot have a fast network here; empty where it asks for none."""
    if resources.network_tier != "best":
        return []
    span = resources.origin_of("network_tier").span()
    fabric = fabric_of(resources, target, scheme)
    accelerator = resources.accelerator
    if fabric is None:
        what = f"with {accelerator.name}" if accelerator else "without accelerators"
        return [
            codes.NETWORK_UNKNOWN.at(
                span,
                f"no fast network of `{target.key}` is known for nodes {what}",
                hint=f"set `network` of `{target.key}`, such as `network: efa`",
                target=target.key,
            )
        ]
    if fabric == "efa" and efa_count(accelerator, resources.instance_type) is None:
        what = str(accelerator or resources.instance_type or "a task without accelerators")
        return [
            codes.NETWORK_COUNT.at(
                span,
                f"no instance type is known that has EFA and {what}",
                hint="name one with `instance_type`, or ask for another accelerator",
                target=target.key,
            )
        ]
    if fabric in GKE_FABRICS and accelerator is not None and accelerator.count != DEVICES:
        return [
            codes.NETWORK_COUNT.at(
                span,
                f"the fast network of a node with {accelerator.name} takes all its {DEVICES} "
                f"devices, not {accelerator.count:g}",
                hint=f"ask for {accelerator.name}:{DEVICES}",
                target=target.key,
            )
        ]
    return []


def network(job: Job, settings: Settings, names: Names, diagnostics: Diagnostics) -> Addition:
    """What the fabric adds; several ranks on EFA are kept in one zone, as it ends there."""
    resources = job.resources
    if resources.network_tier != "best":
        return NOTHING
    faults = network_faults(resources, job.target, settings.scheme)
    diagnostics.extend(faults)
    fabric = fabric_of(resources, job.target, settings.scheme)
    if faults or fabric is None:
        return NOTHING
    accelerator = resources.accelerator
    wanted = Wanted(
        devices=math.ceil(accelerator.count) if accelerator else 0,
        efa=efa_count(accelerator, resources.instance_type) if fabric == "efa" else None,
        rdma=settings.rdma,
        hugepages=_option(job.target, "hugepages"),
    )
    together = Addition(capabilities=("IPC_LOCK",))
    if fabric == "efa" and job.task.num_nodes > 1:
        near = {
            "labelSelector": {"matchLabels": {JOB_NAME: names.job}},
            "topologyKey": _ZONE,
        }
        together = Addition(capabilities=("IPC_LOCK",), pod_affinity=(near,))
    return combined((FABRICS[fabric](wanted), together))


def _option(target: TargetSpec, key: str) -> str | None:
    """`network` of the target: the kind alone, or a map."""
    option = target.options.get("network")
    values = option if isinstance(option, Mapping) else {"kind": option}
    value = values.get(key)
    return str(value) if value is not None else None
