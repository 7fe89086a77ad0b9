"""What each node asks for, in Kubernetes' quantities."""

from __future__ import annotations

import math
from dataclasses import dataclass

from compiler.catalog.accelerators import tpu_slice
from compiler.model import Accelerator, Resources

# Per device, where the task gives no cpus; per CPU, where it gives no memory (GiB).
_CPUS_PER_DEVICE = 4
_MEMORY_PER_CPU_WITH_DEVICES = 4
_MEMORY_PER_CPU = 1
_DEFAULT_CPUS = 2


@dataclass(frozen=True, slots=True)
class NodeRequest:
    """`cpus` in vCPUs, `memory` in GiB, `disk` in whole GiB (None: not asked for)."""

    cpus: float
    memory: float
    disk: int | None


def node_request(resources: Resources) -> NodeRequest:
    """The candidate's own numbers, else the dialect's defaults."""
    devices = _devices(resources.accelerator) if resources.accelerator else 0
    if resources.cpus is not None:
        cpus = resources.cpus.value
    else:
        cpus = float(_CPUS_PER_DEVICE * devices or _DEFAULT_CPUS)
    if resources.memory is None:
        memory = cpus * (_MEMORY_PER_CPU_WITH_DEVICES if devices else _MEMORY_PER_CPU)
    elif resources.memory.per_cpu:
        memory = cpus * resources.memory.value
    else:
        memory = resources.memory.value
    disk = resources.disk_size
    if resources.ephemeral_storage is not None:
        disk = int(resources.ephemeral_storage.removesuffix("Gi"))
    return NodeRequest(cpus, memory, disk)


def _devices(accelerator: Accelerator) -> int:
    """Whole devices of a node; a name such as `tpu-v6e-8` stands for several."""
    named = tpu_slice(accelerator.name)
    return math.ceil(accelerator.count) * (named[1] if named else 1)


def cpu_quantity(cpus: float) -> str:
    """`4`, `500m`: rounded up to thousandths."""
    thousandths = math.ceil(round(cpus * 1000, 6))
    return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"


def memory_quantity(gib: float) -> str:
    """`16Gi`, `512Mi`: rounded up to MiB."""
    mib = math.ceil(round(gib * 1024, 6))
    return f"{mib // 1024}Gi" if mib % 1024 == 0 else f"{mib}Mi"
