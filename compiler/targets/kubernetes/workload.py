"""The object that runs the pods of a task: a Job, or a JobSet around it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostics import Diagnostic, Diagnostics, Related
from compiler.diagnostics.codes.kubernetes_features import CONTAINER_BESIDE, POD_SECURITY
from compiler.diagnostics.codes.model_mounts import MOUNT_TWICE
from compiler.targets.interface import Job
from compiler.targets.kubernetes import kueue, metadata, pod_config
from compiler.targets.kubernetes.findings import as_diagnostics, dotted, protected_faults
from compiler.targets.kubernetes.gang import Gang
from compiler.targets.kubernetes.group_hosts import with_hosts_of_image
from compiler.targets.kubernetes.jobset import SINGLE, Member, jobset_body
from compiler.targets.kubernetes.manifest import Manifest
from compiler.targets.kubernetes.places import place_of
from compiler.targets.kubernetes.pod import PodInput, pod_template
from compiler.targets.kubernetes.pod_security import breaches
from compiler.targets.kubernetes.recovery import Recovery, recovery_of
from compiler.targets.kubernetes.serving import deployment
from compiler.targets.kubernetes.settings import Layer, Settings
from compiler.targets.kubernetes.volumes import mounts_of


def configured_pod(what: PodInput, diagnostics: Diagnostics) -> dict[str, object]:
    """The pod template with the user's `pod_config` laid over it."""
    generated, settings, target = pod_template(what), what.settings, what.job.target.key
    template = generated
    diagnostics.extend(_mounted_twice(what))
    if settings.pod_config:
        for layer in settings.pod_config:
            diagnostics.extend(_doubles(layer, what.job, settings))
        template = pod_config.merged_pod(
            generated, settings.pod_config, settings.version, diagnostics
        )
        diagnostics.extend(protected_faults(settings, generated, template, target))
        template = with_hosts_of_image(template)
    diagnostics.extend(_refused_pod(what, template))
    if what.job.ends:
        diagnostics.extend(_containers_beside(what, template))
    return template


def _containers_beside(what: PodInput, template: Mapping) -> Iterator[Diagnostic]:
    """Containers that do not end with the task's."""
    spec = template.get("spec")
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    for index, container in enumerate(containers if isinstance(containers, list) else ()):
        if not isinstance(container, Mapping) or container.get("name") == pod_config.CONTAINER:
            continue
        layers = what.settings.pod_config
        yield CONTAINER_BESIDE.at(
            pod_config.written_at(layers, template, ("spec", "containers", index), False),
            f"the Job goes on until the container `{container.get('name')}` has ended, too",
            hint="make it a sidecar: an entry of `initContainers` with `restartPolicy: Always`",
            target=what.job.target.key,
        )


def _mounted_twice(what: PodInput) -> Iterator[Diagnostic]:
    """Places of the task's own mounts that `pod_config` mounts something else at."""
    wanted = [(item.path, item.origin) for item in mounts_of(what.job, what.settings)]
    wanted += [(item.destination, item.origin) for item in what.job.task.storage]
    for path, origin in wanted:
        if str(place_of(path)) in what.taken_paths:
            yield MOUNT_TWICE.at(
                origin.key_span(),
                f"`pod_config` mounts something else at `{path}`",
                target=what.job.target.key,
            )


def _refused_pod(what: PodInput, template: Mapping) -> Iterator[Diagnostic]:
    """What the namespace would not let in, where the user wrote it or at the level's place."""
    target = what.job.target
    level = str(target.options.get("pod_security") or "")
    spec = template.get("spec")
    for path, problem in breaches(spec if isinstance(spec, Mapping) else {}, level):
        written = pod_config.written_at(what.settings.pod_config, template, ("spec", *path), False)
        yield POD_SECURITY.at(
            written or target.origin.span("pod_security"),
            f"a namespace of level {level} refuses the pod: {problem}",
            related=() if written else (Related(f"in the pod, {dotted(('spec', *path))}"),),
            target=target.key,
        )


def workload(what: PodInput, gang: Gang, diagnostics: Diagnostics) -> Manifest:
    """The Job of the task, the JobSet that starts all its ranks again together, or the
    Deployment of its replicas."""
    job, settings, names = what.job, what.settings, what.names
    if job.task.service is not None:
        return deployment(job, settings, names, configured_pod(what, diagnostics))
    in_jobset = names.jobset is not None
    recovery = recovery_of(job, in_jobset)
    spec = job_spec(what, recovery, gang, diagnostics)
    meta = metadata.object_metadata(
        job,
        settings,
        names.jobset or names.job,
        labels={**metadata.job_labels(job, settings), **gang.job_labels},
        annotations={
            **kueue.job_annotations(settings),
            **gang.job_annotations,
            metadata.SPEC_DIGEST: job.spec_digest,
            metadata.FILES_DIGEST: job.files_digest,
        },
    )
    if in_jobset:
        body = jobset_body(
            meta,
            [Member(SINGLE, spec)],
            failure_policy=recovery.failure_policy,
            ttl=settings.ttl,
        )
        return Manifest("jobset.yaml", "object.yaml.j2", body)
    if settings.ttl is not None:
        spec["ttlSecondsAfterFinished"] = settings.ttl
    body = {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": spec}
    return Manifest("job.yaml", "job.yaml.j2", body)


def job_spec(
    what: PodInput, recovery: Recovery, gang: Gang, diagnostics: Diagnostics
) -> dict[str, object]:
    """`spec` of the Indexed Job that runs the ranks of a task."""
    ranks = what.job.task.num_nodes
    return {
        "completionMode": "Indexed",
        "completions": ranks,
        "parallelism": ranks,
        # one rank that fails ends the others: a gang is started again whole or not at all
        **recovery.job,
        **gang.job_spec,
        "template": configured_pod(what, diagnostics),
    }


def _doubles(layer: Layer, job: Job, settings: Settings) -> Iterator[Diagnostic]:
    return as_diagnostics(
        pod_config.doubles(layer, settings.version),
        lambda path, at_key: layer.origin.span(*path),
        target=job.target.key,
        fallback=None,
        address="pod_config",
    )
