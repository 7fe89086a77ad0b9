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
from compiler.model import Accelerator

SKYPILOT_KEY = "skypilot.co/accelerator"

Requirements = dict[str, list[str]]


def _lower(name: str) -> list[str]:
    return [name.lower().replace(" ", "-")]


def _upper(name: str) -> list[str]:
    return [name.upper()]


# GKE's names that do not follow `nvidia-tesla-<name>`.
_GKE = {
    "H100": "nvidia-h100-80gb",
    "H100-MEGA": "nvidia-h100-mega-80gb",
    "H200": "nvidia-h200-141gb",
    "B200": "nvidia-b200",
    "GB200": "nvidia-gb200",
    "A100-80GB": "nvidia-a100-80gb",
    "L4": "nvidia-l4",
    "RTXPRO6000": "nvidia-rtx-pro-6000",
    **{
        name: f"nvidia-tesla-{name.lower()}" for name in ("A100", "K80", "P100", "P4", "T4", "V100")
    },
}

# What GPU feature discovery makes of the driver's product names. One model has several.
_GFD = {
    "GB300": ["NVIDIA-GB300"],
    "GB200": ["NVIDIA-GB200"],
    "B300": ["NVIDIA-B300-SXM6-AC"],
    "B200": ["NVIDIA-B200"],
    "GH200": ["NVIDIA-GH200-480GB", "NVIDIA-GH200-144G-HBM3e"],
    "H200": ["NVIDIA-H200"],
    "H200-SXM": ["NVIDIA-H200"],
    "NVIDIA-H200-NVL": ["NVIDIA-H200-NVL"],
    "H100": ["NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe"],
    "H100-SXM": ["NVIDIA-H100-80GB-HBM3"],
    "H100-NVLINK": ["NVIDIA-H100-80GB-HBM3"],
    "H100-MEGA": ["NVIDIA-H100-80GB-HBM3"],
    "H100-NVL": ["NVIDIA-H100-NVL"],
    "A800": ["NVIDIA-A800-SXM4-80GB", "NVIDIA-A800-80GB-PCIe"],
    "A100": ["NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-PCIE-40GB"],
    "A100-80GB": ["NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-80GB-PCIe"],
    "A100-80GB-SXM": ["NVIDIA-A100-SXM4-80GB"],
    "A40": ["NVIDIA-A40"],
    "A30": ["NVIDIA-A30"],
    "A16": ["NVIDIA-A16"],
    "A10": ["NVIDIA-A10"],
    "A10G": ["NVIDIA-A10G"],
    "L4": ["NVIDIA-L4"],
    "L40": ["NVIDIA-L40"],
    "L40S": ["NVIDIA-L40S"],
    "T4": ["Tesla-T4"],
    "T4g": ["NVIDIA-T4G"],
    "V100": ["Tesla-V100-SXM2-16GB", "Tesla-V100-PCIE-16GB"],
    "V100-32GB": ["Tesla-V100-SXM2-32GB", "Tesla-V100-SXM3-32GB", "Tesla-V100-PCIE-32GB"],
    "P100": ["Tesla-P100-SXM2-16GB", "Tesla-P100-PCIE-16GB"],
    "P40": ["Tesla-P40"],
    "P4": ["Tesla-P4"],
    "K80": ["Tesla-K80"],
    "M60": ["Tesla-M60"],
    "A6000": ["NVIDIA-RTX-A6000"],
    "RTXA6000": ["NVIDIA-RTX-A6000"],
    "A5000": ["NVIDIA-RTX-A5000"],
    "RTXA5000": ["NVIDIA-RTX-A5000"],
    "A4000": ["NVIDIA-RTX-A4000"],
    "RTXA4000": ["NVIDIA-RTX-A4000"],
    "RTX6000-Ada": ["NVIDIA-RTX-6000-Ada-Generation"],
    "RTX4000-Ada": ["NVIDIA-RTX-4000-Ada-Generation"],
    "RTX3090": ["NVIDIA-GeForce-RTX-3090"],
    "RTX4090": ["NVIDIA-GeForce-RTX-4090"],
    "RTX5090": ["NVIDIA-GeForce-RTX-5090"],
    "RTXPRO6000": ["NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"],
}

# EC2 calls both sizes of a card by one name; Karpenter tells them apart by memory (MiB).
_KARPENTER = {
    "A100": ("a100", 40960),
    "A100-80GB": ("a100", 81920),
    "V100": ("v100", 16384),
    "V100-32GB": ("v100", 32768),
}
_COREWEAVE = {
    "H100": ["H100", "H100_NVLINK_80GB"],
    "A100-80GB": ["A100-80GB", "A100_NVLINK_80GB"],
}
# Chips of a single host -> its topology.
_TPU_TOPOLOGY = {
    "tpu-v5-lite-podslice": {1: "1x1", 4: "2x2", 8: "2x4"},
    "tpu-v5-lite-device": {1: "1x1", 4: "2x2", 8: "2x4"},
    "tpu-v6e-slice": {1: "1x1", 4: "2x2", 8: "2x4"},
    "tpu-v5p-slice": {4: "2x2x1"},
}
# Devices of a whole node where it is not the family's usual number.
_FULL_NODE = {"GB200": 4, "GB300": 4}


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
    called, memory = _KARPENTER.get(name, (_lower(name)[0], None))
    required = {"karpenter.k8s.aws/instance-gpu-name": [called]}
    if memory is not None:
        required["karpenter.k8s.aws/instance-gpu-memory"] = [str(memory)]
    return required


@dataclass(frozen=True, slots=True)
class FamilyRow:
    """How one maker's devices appear on Kubernetes.

    `full_node` is the number of devices of a whole node, `taint` the key of the taint that
    keeps other pods away (`taint_value` None: any).
    """

    resource: str
    full_node: int
    schemes: Mapping[str, Scheme]
    taint: str | None = None
    taint_value: str | None = None


_SKYPILOT = _by(SKYPILOT_KEY, _lower)

FAMILIES: Mapping[Family, FamilyRow] = {
    Family.NVIDIA: FamilyRow(
        resource="nvidia.com/gpu",
        full_node=8,
        taint="nvidia.com/gpu",
        schemes={
            "skypilot": _SKYPILOT,
            "gfd": _by_table("nvidia.com/gpu.product", _GFD, "GPU feature discovery"),
            "gke": _by_table("cloud.google.com/gke-accelerator", _GKE, "GKE"),
            "karpenter": _karpenter_gpu,
            "coreweave": _by(
                "gpu.nvidia.com/class", lambda name: _COREWEAVE.get(name, _upper(name))
            ),
            "nebius": _by("nebius.com/gpu-name", _upper),
        },
    ),
    Family.AMD: FamilyRow(
        resource="amd.com/gpu",
        full_node=8,
        taint="amd.com/gpu",
        schemes={"skypilot": _SKYPILOT, "karpenter": _karpenter_gpu},
    ),
    Family.NEURON: FamilyRow(
        resource="aws.amazon.com/neuron",
        full_node=16,
        taint="aws.amazon.com/neuron",
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
        schemes={
            "skypilot": _SKYPILOT,
            "gke": _by("cloud.google.com/gke-tpu-accelerator", lambda name: [name]),
        },
    ),
    Family.GAUDI: FamilyRow(
        resource="habana.ai/gaudi", full_node=8, schemes={"skypilot": _SKYPILOT}
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
    known = _TPU_TOPOLOGY.get(name, {})
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
