"""Slurm: one sbatch script a run, which a reviewer reads and slurmctld runs as it is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from compiler.diagnostics import Diagnostic, Diagnostics, Severity, Span
from compiler.model import Group, Pipeline, Resources, Stack, TargetSpec, Task, Volume
from compiler.rendering.artifact import Artifact
from compiler.targets.interface import Job, Support


class SlurmTarget:
    """The pure half of the platform."""

    kind = "slurm"

    @property
    def support(self) -> Mapping[str, Support]:
        from compiler.targets.slurm.support import SUPPORT

        return SUPPORT

    def refusals(
        self, task: Task, resources: Resources, target: TargetSpec
    ) -> Iterable[Diagnostic]:
        """Why this candidate cannot run on a Slurm cluster: a finding for each reason."""
        from compiler.targets.slurm.fields import findings

        for finding in findings(task, resources, target):
            if finding.severity is Severity.ERROR:
                yield finding

    def refusals_of_whole(
        self, whole: Group | Pipeline | Volume, target: TargetSpec
    ) -> Iterable[Diagnostic]:
        """Kept scripts, which have a job of their own, as members of a group."""
        from compiler.targets.slurm.fields import of_whole

        return of_whole(whole, target)

    def volume_updates(self, volume: Volume, target: TargetSpec) -> frozenset[str]:
        """Volumes are not rendered."""
        return frozenset()

    def render(self, job: Job, diagnostics: Diagnostics) -> tuple[Artifact, ...]:
        """The script; nothing where a value cannot be written (an error then says which)."""
        from compiler.diagnostics.codes.slurm import SLURM_VALUE
        from compiler.targets.slurm.emit import emit
        from compiler.targets.slurm.fields import findings
        from compiler.targets.slurm.groups import render_group
        from compiler.targets.slurm.lower import lower
        from compiler.targets.slurm.native import (
            is_heterogeneous,
            render_heterogeneous,
            render_native,
        )
        from compiler.targets.slurm.pipelines import render_pipeline

        for member in job.members or (job,):
            diagnostics.extend(findings(member.task, member.resources, job.target))
        try:
            if job.group is not None and job.members and is_heterogeneous(job.group):
                return render_heterogeneous(job, diagnostics)
            if job.group is not None and job.members:
                return (render_group(job, diagnostics),)
            if job.pipeline is not None and job.members:
                return tuple(render_pipeline(job, diagnostics))
            if job.task.native_script is not None:
                return render_native(job, diagnostics)
            return (emit(job, lower(job, diagnostics)),)
        except ValueError as error:
            diagnostics.add(
                SLURM_VALUE.at(job.task.origin.span(), str(error), target=job.target.key)
            )
            return ()

    def project(self, stack: Stack, target: TargetSpec) -> tuple[Artifact, ...]:
        """A cluster has nothing of the target as a whole."""
        return ()

    def written_at(self, job: Job, field: str) -> Span | None:
        """Where the user wrote a field of the dialect that a refusal of the cluster is about."""
        from compiler.targets.slurm.locating import written_at

        return written_at(job, field)

    def start_within(self, job: Job) -> int | None:
        """Seconds that the work may wait in the queue where there is another place for it."""
        from compiler.targets.slurm.settings import Settings

        limit = Settings(job).value("provision_timeout")
        return None if limit is None or int(limit) < 0 else int(limit)

    def verify(self, artifact: Artifact, target: TargetSpec) -> Iterable[Diagnostic]:
        from compiler.targets.slurm.verify import verify

        return verify(artifact, target)


TARGET = SlurmTarget()
