"""What no cluster of Slurm can be asked for, whatever nodes it has.

sbatch reads numbers into 32 and 64 bits and does not notice when they do not fit: beyond a limit
a job would ask for something else, without a word. The limits here lie below that and above all
that Slurm can manage.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from compiler.diagnostics import Diagnostic, Span
from compiler.diagnostics.codes.slurm import SLURM_REQUEST_TOO_LARGE
from compiler.model import Resources, TargetSpec, Task
from compiler.targets.slurm.requests import amounts_of

# MaxNodeCount's own default; CPUs of a node are 16 bits in slurmctld.
MOST_NODES = 65_536
MOST_CPUS = 65_533
MOST_GPUS = 65_533
MOST_MEMORY_MIB = 2**31 - 1


def too_large(task: Task, resources: Resources, target: TargetSpec) -> Iterator[Diagnostic]:
    """A diagnostic for each value that the user wrote and that is beyond a limit.

    What only follows from another value, as the memory does from the CPUs, is said of that one.
    """
    told = partial(_too_large, target)
    if task.num_nodes > MOST_NODES:
        place = task.origin.span("num_nodes")
        yield told(place, "num_nodes", "nodes", task.num_nodes, MOST_NODES)
    cpus, mib, gpus = amounts_of(resources, target)
    found = False
    for key, what, value, most, given in (
        ("accelerators", "GPUs a node", gpus, MOST_GPUS, True),
        ("cpus", "CPUs a node", cpus, MOST_CPUS, resources.cpus is not None),
        ("memory", "MiB of memory a node", mib, MOST_MEMORY_MIB, resources.memory is not None),
    ):
        if value <= most or (found and not given):
            continue
        found = True
        written = key if given else _cause(key, resources)
        place = resources.origin_of(written).span()
        yield told(place, written, what, value, most, implied=None if given else key)


def _cause(key: str, resources: Resources) -> str:
    """The field that a value which nobody wrote follows from."""
    return "cpus" if key == "memory" and resources.cpus is not None else "accelerators"


def _too_large(
    target: TargetSpec,
    place: Span,
    key: str,
    what: str,
    value: float,
    most: int,
    implied: str | None = None,
) -> Diagnostic:
    follows = f", as `{implied}` is not written" if implied else ""
    return SLURM_REQUEST_TOO_LARGE.at(
        place,
        f"`{key}` asks Slurm for {value:.15g} {what}{follows}",
        found=f"{value:.15g}",
        expected=f"at most {most}",
        hint=f"write `{implied}`, or ask for less in `{key}`" if implied else None,
        target=target.key,
    )
