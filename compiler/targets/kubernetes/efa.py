"""How many EFA interfaces a pod asks for: its share of the node's.

A node's devices and interfaces are those of its instance type. Where the task names the type,
that one counts; else, of the types that can host the request, the one with the fewest
interfaces a device, so that the pod fits on whatever node it meets.
"""

from __future__ import annotations

from functools import lru_cache

from compiler.catalog.aws import InstanceType, accelerated, instance_type
from compiler.model import Accelerator


def efa_count(accelerator: Accelerator | None, type_name: str | None) -> int | None:
    """Interfaces of one pod, at least 1; None where no type is known that has any."""
    devices = accelerator.count if accelerator is not None else 0.0
    known = instance_type(type_name) if type_name is not None else None
    if known is not None:
        return _share(devices, known) if known.efa_interfaces else None
    if accelerator is None:
        return None
    hosts = _hosts(accelerator.name, devices)
    if not hosts:
        return None
    fewest = min(hosts, key=lambda row: (row.efa_interfaces / row.accelerator_count, row.name))
    return _share(devices, fewest)


def _share(devices: float, node: InstanceType) -> int:
    if not devices or not node.accelerator_count:
        return node.efa_interfaces
    share = int(devices * node.efa_interfaces / node.accelerator_count + 1e-9)
    return min(max(1, share), node.efa_interfaces)


@lru_cache(maxsize=256)
def _hosts(name: str, devices: float) -> tuple[InstanceType, ...]:
    """Types with that many of the accelerator and at least one interface."""
    return tuple(
        row
        for row in accelerated().values()
        if row.accelerator == name and row.accelerator_count >= devices and row.efa_interfaces
    )
