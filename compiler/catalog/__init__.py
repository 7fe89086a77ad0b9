"""What hardware exists, by name: accelerators, instance types, prices.

Everything is read from `data/` when it is first asked for and kept; a look-up is then a
dictionary access. The sources of the data, and how to renew it, are in `data/SOURCES.md`.
"""

from compiler.catalog.accelerators import (
    AcceleratorModel,
    Family,
    Resolution,
    accelerators,
    by_memory,
    family,
    memory_gib,
    resolve_accelerator,
    tpu_slice,
)
from compiler.catalog.aws import (
    InstanceType,
    counts_of,
    fits,
    instance_type,
    instance_types,
    nearest_instance_types,
    price,
)
from compiler.catalog.choice import Choice, NoChoice, choose_instance

__all__ = [
    "AcceleratorModel",
    "Choice",
    "Family",
    "InstanceType",
    "NoChoice",
    "Resolution",
    "accelerators",
    "by_memory",
    "choose_instance",
    "counts_of",
    "family",
    "fits",
    "instance_type",
    "instance_types",
    "memory_gib",
    "nearest_instance_types",
    "price",
    "resolve_accelerator",
    "tpu_slice",
]
