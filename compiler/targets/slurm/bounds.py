"""What no cluster of Slurm can be asked for, whatever nodes it has.

sbatch reads numbers into 32 and 64 bits and does not notice when they do not fit: far enough
beyond a limit a job would ask for something else, without a word. The limits here lie below that
and above all that Slurm can manage. What nobody wrote, and follows from another field, stays
below them by the limits that the model has.
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes.slurm import SLURM_REQUEST_TOO_LARGE
from compiler.model import Resources, TargetSpec, Task
from compiler.targets.slurm.requests import amounts_of

# MaxNodeCount's own default; CPUs of a node are 16 bits in slurmctld.
MOST_NODES = 65_536
MOST_CPUS = 65_533
MOST_MEMORY_MIB = 2**31 - 1


def too_large(task: Task, resources: Resources, target: TargetSpec) -> Iterator[Diagnostic]:
    """A diagnostic for each value that is beyond a limit, where it was written."""
    cpus, mib, _ = amounts_of(resources, target)
    for key, what, value, most in (
        ("num_nodes", "nodes", task.num_nodes, MOST_NODES),
        ("cpus", "CPUs a node", cpus, MOST_CPUS),
        ("memory", "MiB of memory a node", mib, MOST_MEMORY_MIB),
    ):
        if value <= most:
            continue
        origin = task.origin.child(key) if key == "num_nodes" else resources.origin_of(key)
        yield SLURM_REQUEST_TOO_LARGE.at(
            origin.span(),
            f"`{key}` asks Slurm for {value:.15g} {what}",
            found=f"{value:.15g}",
            expected=f"at most {most}",
            target=target.key,
        )
