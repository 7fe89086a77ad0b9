"""What each node asks for, in Kubernetes' quantities."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.catalog.accelerators import tpu_slice
from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes.kubernetes_features import REQUEST_TOO_LARGE
from compiler.model import Accelerator, Resources
from compiler.targets.interface import Job

# Per device, where the task gives no cpus; per CPU, where it gives no memory (GiB).
_CPUS_PER_DEVICE = 4
_MEMORY_PER_CPU_WITH_DEVICES = 4
_MEMORY_PER_CPU = 1
_DEFAULT_CPUS = 2
# Beyond the largest machines that there are; what the API server takes for an Indexed Job.
_MOST_CPUS, _MOST_MEMORY, _MOST_DISK = 4096, 65536, 65536
_MOST_NODES = 100_000


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


def request_faults(job: Job) -> Iterator[Diagnostic]:
    """What is more than any node, or any Job, has."""
    resources, request = job.resources, node_request(job.resources)
    asked = (
        ("cpus", "CPUs", request.cpus, _MOST_CPUS),
        ("memory", "GiB of memory", request.memory, _MOST_MEMORY),
        ("disk_size", "GiB of disk", request.disk or 0, _MOST_DISK),
    )
    for key, what, amount, most in asked:
        if amount > most:
            written = "ephemeral_storage" if key not in resources.given else key
            origin = resources.origin_of(written) if written in resources.given else None
            yield REQUEST_TOO_LARGE.at(
                (origin or job.task.resources.origin).span(),
                f"no node has {amount:.12g} {what}",
                expected=f"at most {most:g}",
                target=job.target.key,
            )
    if job.task.num_nodes > _MOST_NODES:
        yield REQUEST_TOO_LARGE.at(
            job.task.origin.span("num_nodes"),
            f"a Job has no {job.task.num_nodes} pods",
            expected=f"at most {_MOST_NODES}",
            target=job.target.key,
        )


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
