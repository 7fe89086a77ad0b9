"""The time limit of a job, by what the stack says of the partitions.

Slurm itself knows a partition's limits; where the stack repeats them, a limit that is too long
is found before anything is submitted, and no job is ever without one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import slurm as codes
from compiler.model import TargetSpec
from compiler.planning.time_limits import sbatch_seconds
from compiler.targets.interface import Job
from compiler.targets.slurm.options import Chosen

_UNLIMITED = "UNLIMITED"


def time_limit(
    job: Job, partition: str | None, chosen: Chosen | None, diagnostics: Diagnostics
) -> str | None:
    """The limit to write where the user gives none: the partition's longest, None for nothing.

    A partition with a default of its own is left to it. Faults go to `diagnostics`.
    """
    described = dict(_described(job.target, partition))
    if not described:
        return None
    if chosen is not None and chosen.value is not None:
        diagnostics.extend(_too_long(chosen, described, job.target))
        return None
    if all(_limited(entry.get("default_time")) for entry in described.values()):
        return None
    longest = [str(entry.get("max_time") or _UNLIMITED) for entry in described.values()]
    if all(_limited(text) for text in longest):
        return min(longest, key=lambda text: sbatch_seconds(text) or 0)
    diagnostics.add(
        codes.SLURM_NO_TIME_LIMIT.at(
            job.task.origin.span(),
            f"no time limit: partition {', '.join(f'`{name}`' for name in described)} has none "
            "for jobs that ask for none",
            hint="set `time` in `config.slurm.sbatch_options`",
            target=job.target.key,
        )
    )
    return None


def _too_long(
    chosen: Chosen, described: Mapping[str, Mapping[str, object]], target: TargetSpec
) -> Iterator[Diagnostic]:
    longest = [str(entry.get("max_time") or _UNLIMITED) for entry in described.values()]
    wanted = sbatch_seconds(chosen.value or "")
    if wanted is None or not all(_limited(text) for text in longest):
        return
    limit = max(longest, key=lambda text: sbatch_seconds(text) or 0)
    if wanted > (sbatch_seconds(limit) or 0):
        names = ", ".join(f"`{name}`" for name in described)
        yield codes.SLURM_TIME_TOO_LONG.at(
            chosen.layer.span(chosen.key),
            f"`--time={chosen.value}` is longer than partition {names} allows",
            found=chosen.value,
            expected=f"at most {limit}",
            target=target.key,
        )


def _described(
    target: TargetSpec, partition: str | None
) -> Iterator[tuple[str, Mapping[str, object]]]:
    """What the stack says of the partitions that the job may go to; nothing if one is unknown."""
    known = target.options.get("partitions")
    if not isinstance(known, Mapping):
        return
    names = partition.split(",") if partition else [k for k, v in known.items() if v.get("default")]
    if all(name in known for name in names):
        yield from ((name, known[name]) for name in names)


def _limited(text: object) -> bool:
    return text is not None and text != _UNLIMITED
