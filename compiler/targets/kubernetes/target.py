"""The pure half of Kubernetes, as the workflow calls it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from compiler.diagnostics import Diagnostic, Diagnostics, Severity, Span
from compiler.diagnostics.codes import kubernetes as codes
from compiler.model import Group, Pipeline, Resources, Stack, TargetSpec, Task, Volume
from compiler.rendering.artifact import Artifact
from compiler.targets.interface import Job, Support
from compiler.targets.kubernetes import findings
from compiler.targets.kubernetes.accelerators import NoSelection, select
from compiler.targets.kubernetes.emit import emit
from compiler.targets.kubernetes.gang import gang_faults
from compiler.targets.kubernetes.groups import lower_joined, lower_whole, whole_faults
from compiler.targets.kubernetes.losses import losses, spot_faults, stack_losses
from compiler.targets.kubernetes.lower import lower
from compiler.targets.kubernetes.manifest import Manifest
from compiler.targets.kubernetes.network import network_faults
from compiler.targets.kubernetes.schema import known_versions, minor_of, nearest_version
from compiler.targets.kubernetes.settings import Settings, scheme_of, settings_of
from compiler.targets.kubernetes.support import SUPPORT
from compiler.targets.kubernetes.verify import remember_checked, verify
from compiler.targets.kubernetes.volume_work import UPDATES, volume_faults, volume_manifests
from compiler.targets.kubernetes.volumes import PVC

_ERROR = Severity.ERROR


class KubernetesTarget:
    """See `compiler.targets.interface.Target`."""

    kind = "kubernetes"
    support: Mapping[str, Support] = SUPPORT

    def refusals(
        self, task: Task, resources: Resources, target: TargetSpec
    ) -> Iterator[Diagnostic]:
        """Why the candidate cannot be placed here."""
        for item in losses(task, resources, target):
            if item.severity is _ERROR:
                yield item
        scheme = scheme_of(target)
        yield from network_faults(resources, target, scheme)
        yield from spot_faults(resources, target, scheme)
        if resources.accelerator is not None:
            try:
                select(resources.accelerator, scheme)
            except NoSelection as error:
                written = "gpus" if "gpus" in resources.given else "accelerators"
                yield codes.ACCELERATOR_UNSELECTABLE.at(
                    resources.origin_of(written).span(),
                    str(error),
                    hint=f"set `labels` of `{target.key}`, now {scheme}",
                    target=target.key,
                )

    def refusals_of_whole(
        self, whole: Group | Pipeline | Volume, target: TargetSpec
    ) -> Iterable[Diagnostic]:
        """What no cluster of this target could give."""
        if isinstance(whole, Volume):
            return [item for item in volume_faults(whole, target) if item.severity is _ERROR]
        return whole_faults(whole, target)

    def volume_updates(self, volume: Volume, target: TargetSpec) -> frozenset[str]:
        """A claim can grow and get other labels."""
        return UPDATES if volume.type == PVC and not volume.use_existing else frozenset()

    def render(self, job: Job, diagnostics: Diagnostics) -> tuple[Artifact, ...]:
        """The manifests of one run; none where there are errors."""
        if job.volume is not None:
            own = Diagnostics(volume_faults(job.volume, job.target))
        else:
            own = Diagnostics()
            for part in job.members or (job,):
                own.extend(losses(part.task, part.resources, part.target))
        own.extend(_of_stack(job.stack, job.target))
        artifacts: tuple[Artifact, ...] = ()
        if not own.has_errors:
            artifacts = _render(job, own)
        diagnostics.extend(own)
        return () if own.has_errors else artifacts

    def project(self, stack: Stack, target: TargetSpec) -> tuple[Artifact, ...]:
        """Nothing belongs to a cluster as a whole."""
        return ()

    def locate(self, job: Job, artifact: Artifact, field: str) -> Span | None:
        """Where the user wrote what became `field` of an object, as the API server names it."""
        import yaml

        body = yaml.load(artifact.text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return findings.nearest(findings.locator(job, settings_of(job), body), field)

    def written_at(self, job: Job, field: str) -> Span | None:
        """The same for what the object that runs was refused for when it was applied."""
        artifacts = reversed(self.render(job, Diagnostics()))
        found = (self.locate(job, artifact, field) for artifact in artifacts)
        return next((span for span in found if span is not None), None)

    def start_within(self, job: Job) -> int | None:
        """Seconds that the work may wait for its start where there is another place for it."""
        return settings_of(job).start_within

    def verify(self, artifact: Artifact, target: TargetSpec) -> Iterable[Diagnostic]:
        """Check a manifest strictly against the schemas of the target's version."""
        return verify(artifact, target)


TARGET = KubernetesTarget()


def _render(job: Job, diagnostics: Diagnostics) -> tuple[Artifact, ...]:
    settings = settings_of(job)
    if job.volume is not None:
        manifests = volume_manifests(job, job.volume, settings)
    elif job.members:
        manifests = lower_whole(job, settings, diagnostics)
    elif job.joins is not None:
        manifests = lower_joined(job, settings, diagnostics)
    else:
        manifests = lower(job, settings, diagnostics)
    for manifest in manifests:
        _check(manifest, job, settings, diagnostics)
    if diagnostics.has_errors:
        return ()
    artifacts = []
    folder = job.folder
    for manifest in manifests:
        try:
            artifact = emit(folder, manifest)
        except ValueError as error:
            diagnostics.add(
                codes.TEXT_NOT_RENDERABLE.at(
                    job.task.origin.span("config"),
                    f"a text of {manifest.address} cannot be written: {error}",
                    target=job.target.key,
                )
            )
            continue
        remember_checked(artifact, settings.version)
        artifacts.append(artifact)
    return tuple(artifacts)


def _check(manifest: Manifest, job: Job, settings: Settings, diagnostics: Diagnostics) -> None:
    found = findings.all_findings(manifest.body, settings.version)
    if found:
        diagnostics.extend(
            findings.as_diagnostics(
                found,
                findings.locator(job, settings, manifest.body),
                target=job.target.key,
                fallback=job.task.origin.span(),
                address=manifest.address,
            )
        )


@lru_cache(maxsize=64)
def _of_stack(stack: Stack, target: TargetSpec) -> tuple[Diagnostic, ...]:
    """What the stack itself loses here, whatever the task."""
    return (*stack_losses(stack, target), *_target_faults(target))


def _target_faults(target: TargetSpec) -> Iterator[Diagnostic]:
    """What the stack says about the target that cannot be carried out."""
    if target.version is not None and minor_of(target.version) not in known_versions():
        yield codes.VERSION_UNKNOWN.at(
            target.origin.span("version"),
            f"there are no schemas for Kubernetes {target.version}",
            found=target.version,
            expected=f"{known_versions()[0]} to {known_versions()[-1]}",
            hint=f"manifests are checked as for {nearest_version(target.version)}",
            target=target.key,
        )
    yield from gang_faults(target)
