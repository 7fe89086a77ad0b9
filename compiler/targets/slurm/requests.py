"""What one node of the task asks of Slurm: CPUs, memory, GPUs."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from compiler.model import Accelerator, Resources, TargetSpec

_DEFAULT_CPUS = 2
_CPUS_PER_GPU = 4
_GIB_PER_CPU = 1
_GIB_PER_CPU_WITH_GPUS = 4


@dataclass(frozen=True, slots=True)
class Request:
    """Per node: whole CPUs, memory in MiB (None: not asked for), whole GPUs."""

    cpus: int
    memory_mib: int | None
    gpus: int


def request_of(resources: Resources, target: TargetSpec) -> Request:
    """The dialect's defaults where nothing is said; a memory of 0 asks for none."""
    cpus, mib, gpus = amounts_of(resources, target)
    return Request(math.ceil(cpus), math.ceil(mib) or None, math.ceil(gpus))


def amounts_of(resources: Resources, target: TargetSpec) -> tuple[float, float, float]:
    """CPUs, MiB of memory (0: not asked for) and GPUs of a node, before they are rounded up."""
    accelerator = resources.accelerator
    gpus = float(math.ceil(accelerator.count)) if accelerator else 0.0
    if resources.cpus is not None:
        cpus = resources.cpus.value
    else:
        cpus = _CPUS_PER_GPU * gpus or _DEFAULT_CPUS
    if target.options.get("memory") == "ignored":
        return cpus, 0, gpus
    if resources.memory is None:
        gib = cpus * (_GIB_PER_CPU_WITH_GPUS if gpus else _GIB_PER_CPU)
    else:
        gib = resources.memory.value * (cpus if resources.memory.per_cpu else 1)
    # What floating point adds is not rounded up.
    return cpus, round(gib * 1024, 6), gpus


def memory_text(mib: int) -> str:
    """`--mem`: gibibytes where that is whole."""
    return f"{mib // 1024}G" if mib % 1024 == 0 else f"{mib}M"


def gpu_directive(accelerator: Accelerator, gpus: int, target: TargetSpec) -> tuple[str, str]:
    """(option, value) that asks for the GPUs in the way that the stack chose.

    The type of a typed GRES is the accelerator's name in lower case, without the memory that
    tells variants apart (`A100-80GB` -> `a100`), as most sites name theirs, unless the stack's
    `gres_types` have another.
    """
    style = target.options.get("gres", "typed")
    if style == "untyped":
        return "gres", f"gpu:{gpus}"
    if style == "gpus-per-node-untyped":
        return "gpus-per-node", str(gpus)
    type_name = _named_by_the_site(accelerator, target)
    if type_name is None:
        type_name = re.sub(r"-\d+gb$", "", accelerator.name.lower())
        type_name = re.sub(r"[^a-z0-9_.-]", "_", type_name)
    if style == "gpus-per-node":
        return "gpus-per-node", f"{type_name}:{gpus}"
    return "gres", f"gpu:{type_name}:{gpus}"


def _named_by_the_site(accelerator: Accelerator, target: TargetSpec) -> str | None:
    names = target.options.get("gres_types")
    if not isinstance(names, Mapping):
        return None
    by_name = {str(name).lower(): str(kind) for name, kind in names.items()}
    return by_name.get(accelerator.name.lower())
