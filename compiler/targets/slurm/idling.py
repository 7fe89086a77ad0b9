"""`autostop`: nodes that are kept for commands go back when there have been none for a while."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes.targets import FIELD_CHANGED
from compiler.model import Resources, TargetSpec
from compiler.targets.interface import Job
from compiler.targets.slurm.support import SUPPORT


@dataclass(frozen=True, slots=True)
class Idling:
    """`seconds` without a command until the nodes are given back; `stops`: the containers are
    kept, for `triplane start`; `counts_commands` is False where commands do not matter."""

    seconds: int
    stops: bool
    counts_commands: bool


def can_stop(resources: Resources, target: TargetSpec) -> bool:
    """Whether there is a container that can be exported and come back."""
    has_image = bool(resources.image and resources.image.docker)
    return has_image and target.options.get("containers") == "pyxis"


def idling_of(job: Job, diagnostics: Diagnostics) -> Idling | None:
    """None where the job ends by itself, or is kept until its time limit."""
    autostop = job.resources.autostop
    if autostop is None or job.task.run is not None:
        return None
    is_alone = job.part_of is None and job.num_jobs == 1
    stops = not autostop.down
    if stops and not is_alone:
        support = SUPPORT["resources.autostop (in a group or pipeline)"]
        diagnostics.add(
            FIELD_CHANGED.at(
                job.resources.origin_of("autostop").key_span(),
                f"`resources.autostop` on Slurm: {support.note}",
                target=job.target.key,
            )
        )
    return Idling(
        seconds=max(1, autostop.idle_minutes) * 60,
        stops=stops and is_alone,
        counts_commands=autostop.wait_for != "none",
    )
