"""A group: one heterogeneous job, a component for each task, so that all start together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes.targets import FIELD_CHANGED
from compiler.model import Group
from compiler.rendering.artifact import Artifact
from compiler.rendering.environment import render
from compiler.targets.interface import Job
from compiler.targets.slurm import recovery
from compiler.targets.slurm.emit import artifact, data_of, directive_lines
from compiler.targets.slurm.header import Component
from compiler.targets.slurm.lower import SlurmJob, lower
from compiler.targets.slurm.support import SUPPORT

_HOST_NAMES = "group (host names)"


def render_group(job: Job, diagnostics: Diagnostics) -> Artifact:
    """The one script. Raise ValueError for a value that has no form in it."""
    group = job.group
    assert group is not None
    diagnostics.extend(_about_names(job))
    parts = list(_lowered(job, diagnostics))
    names = [part.part for part in parts]
    first = parts[0]
    tasks = [
        {
            "name": part.part,
            "variable": variable(part.part),
            "job": _of_component("SLURM_JOB_ID", part),
            "nodelist": _of_component("SLURM_JOB_NODELIST", part),
            "text": render("slurm/member.j2", data_of(part)).rstrip("\n"),
        }
        for part in parts
    ]
    primary = [names.index(name) for name in group.primary_tasks]
    text = render(
        "slurm/group.sbatch.j2",
        {
            "components": [directive_lines(part) for part in parts],
            "base": first.base,
            "output_is_relative": first.output_is_relative,
            "run_folder": first.run_folder,
            "set_name": first.set_name,
            "run_key": first.run_key,
            "group": group.name,
            "in_group": True,
            "joins": None,
            "array": None,
            "requeues": False,
            "hooks": [],
            "tasks": tasks,
            "primary": primary,
            "delays": [group.termination_delay.get(name, 0) for name in names],
        },
    )
    return artifact(job, text)


def _of_component(name: str, part: SlurmJob) -> str:
    """The variable in which Slurm has it for this part of the job."""
    return f"${name}" if part.component is None else f"${name}_HET_GROUP_{part.component}"


def variable(task: str) -> str:
    """What stands behind TRIPLANE_NODES_ for a task: upper case, `_` for a `-`."""
    return re.sub(r"[^A-Z0-9]", "_", task.upper())


def _lowered(job: Job, diagnostics: Diagnostics) -> Iterator[SlurmJob]:
    """Slurm starts a heterogeneous job again as a whole or not at all."""
    recovers = any(recovery.recovery_of(member.resources) for member in job.members)
    several = len(job.members) > 1
    for number, member in enumerate(job.members):
        common = Component(
            job_name=job.object_name,
            requeue="requeue" if recovers else "no-requeue",
            first=number == 0,
        )
        component = number if several else None
        yield lower(member, diagnostics, common=common, component=component)


def _about_names(job: Job) -> Iterator[Diagnostic]:
    """Outside of containers names resolve only where users may make namespaces."""
    target = job.target
    in_containers = all(member.resources.image is not None for member in job.members)
    if in_containers or target.options.get("user_namespaces") is True:
        return
    support = SUPPORT[_HOST_NAMES]
    assert isinstance(job.group, Group)
    yield FIELD_CHANGED.at(
        job.group.origin.span("name"),
        f"`group` on Slurm: {support.note}",
        hint=support.hint,
        target=target.key,
    )
