"""The pure half of the AWS target: a Pulumi project in Python for each region."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from compiler.catalog import NoChoice
from compiler.diagnostics import Diagnostic, Diagnostics, Severity
from compiler.diagnostics.codes import aws as codes
from compiler.model import (
    Group,
    Pipeline,
    Resources,
    Stack,
    TargetKind,
    TargetSpec,
    Task,
    Volume,
)
from compiler.rendering.artifact import Artifact
from compiler.targets.aws.capacity import reservation_of, wrong_zone
from compiler.targets.aws.emit import emit_job, emit_project, emit_volume
from compiler.targets.aws.images import choose_image
from compiler.targets.aws.instances import select_instance
from compiler.targets.aws.limits import oversized
from compiler.targets.aws.losses import losses, stack_losses
from compiler.targets.aws.lower import lower
from compiler.targets.aws.options import options_of, region_of
from compiler.targets.aws.support import SUPPORT
from compiler.targets.aws.verify import verify_artifact
from compiler.targets.aws.volumes import UPDATES, volume_faults
from compiler.targets.interface import Job, Support


class AwsTarget:
    """Tasks become instances of a launch template, described by a module of a program.

    Layout below `aws/<target>/`: `__main__.py`, `common/` and the Pulumi files are the
    project's; `workloads/<module>.py`, `user_data/<job>.sh` and `scripts/<job>/` a job's,
    `volumes/<module>.py` a volume's.
    """

    kind = TargetKind.AWS.value
    support: Mapping[str, Support] = SUPPORT

    def refusals(
        self, task: Task, resources: Resources, target: TargetSpec
    ) -> Iterable[Diagnostic]:
        """Refused fields, no fitting instance type or image, no bucket, a foreign zone."""
        for item in losses(task, resources, target):
            if item.severity is Severity.ERROR:
                yield item
        yield from oversized(task, resources, target)
        yield from self._impossible(resources, target)

    def refusals_of_whole(
        self, whole: Group | Pipeline | Volume, target: TargetSpec
    ) -> Iterable[Diagnostic]:
        """What AWS' services would not make of a volume."""
        if not isinstance(whole, Volume):
            return ()
        found = (*_without_bucket(target), *volume_faults(whole, target))
        return [item for item in found if item.severity is Severity.ERROR]

    def volume_updates(self, volume: Volume, target: TargetSpec) -> frozenset[str]:
        """What its service changes while it is there; nothing of one that was there before."""
        return frozenset() if volume.use_existing else UPDATES.get(volume.type, frozenset())

    def render(self, job: Job, diagnostics: Diagnostics) -> tuple[Artifact, ...]:
        """The job's module, boot script and scripts, or the volume's module; () with errors in
        `diagnostics`."""
        if job.volume is not None:
            own = Diagnostics(volume_faults(job.volume, job.target))
            diagnostics.extend(own)
            diagnostics.extend(stack_losses(job.stack, job.target))
            return () if own.has_errors else emit_volume(job)
        diagnostics.extend(losses(job.task, job.resources, job.target))
        diagnostics.extend(stack_losses(job.stack, job.target))
        diagnostics.extend(_without_bucket(job.target))
        workload = lower(job, diagnostics)
        if workload is None:
            return ()
        try:
            return emit_job(job, workload)
        except ValueError as error:
            diagnostics.add(
                codes.TEXT.at(job.task.origin.span(), str(error), target=job.target.key)
            )
            return ()

    def project(self, stack: Stack, target: TargetSpec) -> tuple[Artifact, ...]:
        return emit_project(stack, target)

    def verify(self, artifact: Artifact, target: TargetSpec) -> Iterable[Diagnostic]:
        return verify_artifact(artifact, target)

    def _impossible(self, resources: Resources, target: TargetSpec) -> Iterator[Diagnostic]:
        yield from _without_bucket(target)
        region, zone = region_of(target), resources.infra.zone
        if zone is not None and not zone.startswith(region):
            yield codes.ZONE.at(
                resources.origin_of("infra").span(),
                f"`{zone}` is no zone of {region}",
                target=target.key,
            )
        chosen = select_instance(resources, target)
        if isinstance(chosen, NoChoice):
            yield chosen.at(resources, target.key)
            return
        options = options_of(target)
        reservation = reservation_of(resources, chosen.instance, options)
        yield from wrong_zone(resources, reservation, target)
        image = choose_image(resources, chosen.instance, options)
        if isinstance(image, NoChoice):
            yield image.at(resources, target.key)


def _without_bucket(target: TargetSpec) -> Iterator[Diagnostic]:
    if options_of(target).bucket is None:
        yield codes.BUCKET_MISSING.at(
            target.origin.span(),
            f"target `{target.key}` names no bucket",
            hint="add `files: {bucket: s3://...}`",
            target=target.key,
        )
