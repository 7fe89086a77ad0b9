"""Accelerators on Kubernetes: the resource to ask for, the taint to tolerate, the node to choose.

A family is a row of FAMILIES, a way of labelling nodes a row of its `schemes`. Sources of the
values are the vendors' device plugins and the clouds' own node labels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from compiler.catalog.accelerators import Family, accelerators, family, tpu_slice
from compiler.catalog.aws import counts_of
from compiler.model import Accelerator
from compiler.targets.kubernetes import accelerator_labels as labels

SKYPILOT_KEY = "skypilot.co/accelerator"

Requirements = dict[str, list[str]]


def _lower(name: str) -> list[str]:
    return [name.lower().replace(" ", "-")]


def _upper(name: str) -> list[str]:
    return [name.upper()]


# Devices of a whole node where it is not the family's usual number.
_FULL_NODE = {"GB200": 4, "GB300": 4}
# Neighbours on the ring of a trn1.32xlarge: other numbers are not handed out.
_NEURON_COUNTS = {"Trainium": [1, 4, 8, 16]}


class NoSelection(Exception):
    """This accelerator cannot be chosen by these labels; the message says why."""


@dataclass(frozen=True, slots=True)
class Selection:
    """What a pod needs for its accelerators.

    `count` of `resource` per pod; `required` are node labels and the values that will do;
    `whole_node` says that two such pods do not belong on one node.
    """

    resource: str
    count: int
    whole_node: bool
    tolerations: tuple[Mapping[str, str], ...] = ()
    required: Requirements = field(default_factory=dict)
    node_selector: Mapping[str, str] = field(default_factory=dict)


Scheme = Callable[[str, int], "Requirements"]


def _by(key: str, values: Callable[[str], list[str]]) -> Scheme:
    return lambda name, count: {key: values(name)}


def _by_table(key: str, table: Mapping[str, str | list[str]], what: str) -> Scheme:
    def choose(name: str, count: int) -> Requirements:
        value = table.get(name)
        if value is None:
            raise NoSelection(f"{what} has no known value of `{key}` for {name}")
        return {key: [value] if isinstance(value, str) else list(value)}

    return choose


def _karpenter_gpu(name: str, count: int) -> Requirements:
    called, memory = labels.KARPENTER.get(name, (_lower(name)[0], None))
    required = {"karpenter.k8s.aws/instance-gpu-name": [called]}
    if memory is not None:
        required["karpenter.k8s.aws/instance-gpu-memory"] = [str(memory)]
    return required


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """How one maker's devices appear on Kubernetes.

    `full_node` is the number of devices of a whole node, `most` that of the largest there is,
    `taint` the key of the taint that keeps other pods away (`taint_value` None: any).
    """

    resource: str
    full_node: int
    most: int
    schemes: Mapping[str, Scheme]
    taint: str | None = None
    taint_value: str | None = None


_SKYPILOT = _by(SKYPILOT_KEY, _lower)

FAMILIES: Mapping[Family, FamilyRow] = {
    Family.NVIDIA: FamilyRow(
        resource="nvidia.com/gpu",
        full_node=8,
        taint="nvidia.com/gpu",
        most=16,
        schemes={
            "skypilot": _SKYPILOT,
            "gfd": _by_table("nvidia.com/gpu.product", labels.GFD, "GPU feature discovery"),
            "gke": _by_table("cloud.google.com/gke-accelerator", labels.GKE, "GKE"),
            "karpenter": _karpenter_gpu,
            "coreweave": _by(
                "gpu.nvidia.com/class", lambda name: labels.COREWEAVE.get(name, _upper(name))
            ),
            "nebius": _by("nebius.com/gpu-name", _upper),
        },
    ),
    Family.AMD: FamilyRow(
        resource="amd.com/gpu",
        full_node=8,
        taint="amd.com/gpu",
        most=8,
        schemes={
            "skypilot": _SKYPILOT,
            "karpenter": _karpenter_gpu,
            "gfd": _by_table("amd.com/gpu.product-name", labels.AMD, "AMD's node labeller"),
        },
    ),
    Family.NEURON: FamilyRow(
        resource="aws.amazon.com/neuron",
        full_node=16,
        taint="aws.amazon.com/neuron",
        most=16,
        schemes={
            "skypilot": _SKYPILOT,
            "karpenter": _by("karpenter.k8s.aws/instance-accelerator-name", _lower),
        },
    ),
    Family.TPU: FamilyRow(
        resource="google.com/tpu",
        full_node=1,
        taint="google.com/tpu",
        taint_value="present",
        most=8,
        schemes={
            "skypilot": _SKYPILOT,
            "gke": _by("cloud.google.com/gke-tpu-accelerator", lambda name: [name]),
        },
    ),
    Family.GAUDI: FamilyRow(
        resource="habana.ai/gaudi", full_node=8, most=8, schemes={"skypilot": _SKYPILOT}
    ),
}


@lru_cache(maxsize=256)
def select(accelerator: Accelerator, scheme: str) -> Selection:
    """What pods on nodes labelled by `scheme` need. Raise NoSelection where that is unknown."""
    kind = family(accelerator.name)
    row = FAMILIES.get(kind) if kind else None
    if row is None:
        raise NoSelection(f"no Kubernetes device plugin is known for {accelerator.name}")
    name, count = accelerator.name, math.ceil(accelerator.count)
    if kind is Family.TPU and (slice_ := tpu_slice(name)):
        name, count = slice_[0], slice_[1] * count
    choose = row.schemes.get("skypilot" if scheme == "generic" else scheme)
    if choose is None:
        raise NoSelection(f"nodes labelled by `{scheme}` do not say whether they have {name}")
    node_selector = {}
    if kind is Family.TPU and scheme == "gke":
        node_selector["cloud.google.com/gke-tpu-topology"] = _topology(name, count)
    return Selection(
        resource=row.resource,
        count=count,
        whole_node=count >= _FULL_NODE.get(name, row.full_node),
        tolerations=_tolerations(row),
        required=choose(name, count),
        node_selector=node_selector,
    )


def count_problem(accelerator: Accelerator) -> tuple[str, str] | None:
    """(what is wrong with the count, what a node can have); None where nodes can have it."""
    kind = family(accelerator.name)
    row = FAMILIES.get(kind) if kind else None
    if row is None:
        return None
    name, count = accelerator.name, math.ceil(accelerator.count)
    if kind is Family.TPU and (slice_ := tpu_slice(name)):
        count *= slice_[1]
    if kind is Family.NEURON:
        known = _NEURON_COUNTS.get(name) or [int(item) for item in counts_of(name)]
        if known and count not in known:
            return f"no node gives {count} {name} to a pod", ", ".join(str(item) for item in known)
        return None
    most = _FULL_NODE.get(name, row.most)
    if count > most:
        return f"no node has {count} {name}", f"at most {most}"
    return None


def names_of_devices(resource: str, labels: Mapping[str, str], scheme: str) -> list[str]:
    """The catalogue's names that a node with these labels serves by its `resource`."""
    found = []
    for kind, row in FAMILIES.items():
        choose = row.schemes.get("skypilot" if scheme == "generic" else scheme)
        if row.resource != resource or choose is None:
            continue
        for name in accelerators():
            if family(name) is not kind:
                continue
            try:
                required = choose(name, 1)
            except NoSelection:
                continue
            if all(labels.get(key) in values for key, values in required.items()):
                found.append(name)
    return found


def _topology(name: str, chips: int) -> str:
    known = labels.TPU_TOPOLOGY.get(name, {})
    if chips not in known:
        counts = ", ".join(str(item) for item in known) or "none"
        raise NoSelection(f"{chips} chips of {name} are no single host (known counts: {counts})")
    return known[chips]


def _tolerations(row: FamilyRow) -> tuple[Mapping[str, str], ...]:
    if row.taint is None:
        return ()
    if row.taint_value is None:
        return ({"key": row.taint, "operator": "Exists", "effect": "NoSchedule"},)
    return (
        {
            "key": row.taint,
            "operator": "Equal",
            "value": row.taint_value,
            "effect": "NoSchedule",
        },
    )
