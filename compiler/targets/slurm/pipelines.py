"""A pipeline: a job for each task, each waiting for the one before it to succeed.

The jobs have one name, which is the identity of the run, and are submitted in the order of
their artifacts; which job one waits for is said when it is submitted (`--dependency=afterok`),
as only then it has a number.
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostics
from compiler.rendering.artifact import Artifact
from compiler.rendering.environment import render
from compiler.targets.interface import Job
from compiler.targets.slurm import recovery
from compiler.targets.slurm.emit import artifact, data_of
from compiler.targets.slurm.header import Component
from compiler.targets.slurm.lower import lower, part_of
from compiler.targets.slurm.native import native_text


def render_pipeline(job: Job, diagnostics: Diagnostics) -> Iterator[Artifact]:
    """A script a task. Raise ValueError for a value that has no form in one."""
    task_ids = "\n".join(member.task_id for member in job.members)
    for member in job.members:
        common = Component(
            job_name=job.object_name,
            requeue=recovery.requeue_directive(member.resources),
            first=True,
            task_ids=task_ids,
        )
        if member.task.native_script is not None:
            text = native_text(member, diagnostics, job_name=job.object_name)
        else:
            lowered = lower(member, diagnostics, common=common)
            text = render("slurm/job.sbatch.j2", data_of(lowered))
        if text is not None:
            yield artifact(job, text, part_of(member))
