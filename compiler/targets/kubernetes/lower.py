"""From a job to the plain data of its Kubernetes objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import kubernetes as codes
from compiler.targets.interface import Job
from compiler.targets.kubernetes import metadata, pod_config
from compiler.targets.kubernetes.accelerators import NoSelection, Selection, select
from compiler.targets.kubernetes.additions import Addition, combined
from compiler.targets.kubernetes.exposure import port_faults
from compiler.targets.kubernetes.features import additions_of
from compiler.targets.kubernetes.files import brought_files
from compiler.targets.kubernetes.gang import gang_of, uses_jobset
from compiler.targets.kubernetes.losses import scheme_faults
from compiler.targets.kubernetes.manifest import Manifest
from compiler.targets.kubernetes.metadata import Names
from compiler.targets.kubernetes.pod import PodInput
from compiler.targets.kubernetes.requests import node_request, request_faults
from compiler.targets.kubernetes.scripts import scripts
from compiler.targets.kubernetes.secrets import external_secrets, secret_uses
from compiler.targets.kubernetes.serving import in_front, service_faults
from compiler.targets.kubernetes.settings import Settings
from compiler.targets.kubernetes.workload import workload


def lower(job: Job, settings: Settings, diagnostics: Diagnostics) -> list[Manifest]:
    """All objects of one run, the ones that others need first.

    What cannot be expressed goes to `diagnostics`; what was lowered is then of no use.
    """
    names = metadata.names_of(job, uses_jobset(job))
    diagnostics.extend(metadata.too_long(job, names))
    gang = gang_of(job, settings)
    parts = parts_of(job, settings, names, gang.pods, diagnostics)
    if parts is None:
        return []
    manifests = [*parts.manifests, workload(parts.pod, gang, diagnostics)]
    if job.task.service is not None:
        manifests += in_front(job, settings, parts.pod.names)
    return manifests


@dataclass(frozen=True, slots=True)
class Parts:
    """What a task's pods are made of, and the objects that they need."""

    manifests: list[Manifest]
    pod: PodInput


def parts_of(
    job: Job, settings: Settings, names: Names, more: Addition, diagnostics: Diagnostics
) -> Parts | None:
    """Everything of a task but the object that runs its pods; None where there are errors.

    `more` is added to the pods. Of a member of a whole the objects that the members share are
    left out.
    """
    diagnostics.extend(metadata.label_faults(job))
    diagnostics.extend(_text_faults(job))
    if settings.queue_missing:
        diagnostics.add(
            codes.QUEUE_MISSING.at(
                job.target.origin.span("queue"),
                f"`{job.target.key}` uses Kueue, but no LocalQueue is named",
                hint="`queue: {kind: kueue, name: ...}`",
                target=job.target.key,
            )
        )
    diagnostics.extend(scheme_faults(job, settings))
    diagnostics.extend(request_faults(job))
    diagnostics.extend(port_faults(job))
    diagnostics.extend(service_faults(job, settings))
    if diagnostics.has_errors:
        return None
    secrets = secret_uses(job, names.secrets, diagnostics)
    selection = selection_of(job, settings, diagnostics)
    brought = brought_files(job, diagnostics)
    features = additions_of(job, settings, names, secrets, brought.stored, diagnostics)
    added = combined((features, more))
    texts, files = scripts(job, settings, names, secrets, added, brought), brought.packed
    if not job.ends:
        # what is served goes on with the old texts until the new ones are in place
        names = metadata.versioned(names, texts, files)
    manifests = [_config_map(job, settings, "scripts.yaml", names.scripts, data=texts)]
    if files:
        manifests.append(
            _config_map(job, settings, "files.yaml", names.files, binary_data=dict(files))
        )
    if job.part_of is None:
        manifests += external_secret_manifests(job, settings)
    if job.ends:
        manifests += _services(job, settings, names)
    manifests += added.manifests
    pod = PodInput(
        job=job,
        settings=settings,
        names=names,
        request=node_request(job.resources),
        selection=selection,
        secrets=tuple(secrets),
        has_files=bool(files),
        added=added,
        taken_paths=pod_config.mount_paths(settings.pod_config),
        host_network=bool(added.spec.get("hostNetwork"))
        or pod_config.uses_host_network(settings.pod_config),
    )
    return Parts(manifests, pod)


def _text_faults(job: Job) -> Iterator[Diagnostic]:
    texts: list[tuple[tuple[str, ...], str | None]] = [
        (("setup",), job.task.setup),
        (("run",), job.task.run),
    ]
    texts += [(("envs", name), value) for name, value in job.task.envs.items()]
    for path, text in texts:
        if text is None:
            continue
        try:
            text.encode()
            bad = "\0" in text
        except UnicodeEncodeError:
            bad = True
        if bad:
            yield codes.TEXT_NOT_RENDERABLE.at(
                job.task.origin.key_span(*path),
                f"`{path[-1]}` holds a character that no script can hold",
                target=job.target.key,
            )


def selection_of(job: Job, settings: Settings, diagnostics: Diagnostics) -> Selection | None:
    """What the job's accelerator needs; None for none, or where it cannot be chosen."""
    resources = job.resources
    if resources.accelerator is None:
        return None
    try:
        return select(resources.accelerator, settings.scheme)
    except NoSelection as error:
        written = "gpus" if "gpus" in resources.given else "accelerators"
        diagnostics.add(
            codes.ACCELERATOR_UNSELECTABLE.at(
                resources.origin_of(written).span(),
                str(error),
                hint=f"set `labels` of `{job.target.key}`, now {settings.scheme}",
                target=job.target.key,
            )
        )
        return None


def _services(job: Job, settings: Settings, names: Names) -> Iterator[Manifest]:
    """The names of the ranks, and for several ranks which of them are ready."""
    selector = {metadata.JOB_NAME: names.job}
    wanted = []
    if job.part_of is None and job.joins is None:
        wanted.append(("service.yaml", names.service, True))
    if job.task.num_nodes > 1:
        wanted.append(("service-ready.yaml", names.ready_service, False))
    for file, name, not_ready in wanted:
        spec: dict[str, object] = {"clusterIP": "None", "selector": selector}
        if not_ready:
            spec["publishNotReadyAddresses"] = True
        body: dict[str, object] = {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata.object_metadata(job, settings, name),
            "spec": spec,
        }
        yield Manifest(file, "service.yaml.j2", body)


def _config_map(
    job: Job,
    settings: Settings,
    file: str,
    name: str,
    *,
    data: dict[str, str] | None = None,
    binary_data: dict[str, str] | None = None,
) -> Manifest:
    body: dict[str, object] = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": metadata.object_metadata(job, settings, name),
        "immutable": True,
    }
    if data is not None:
        body["data"] = data
    if binary_data is not None:
        body["binaryData"] = binary_data
    return Manifest(file, "configmap.yaml.j2", body)


def external_secret_manifests(job: Job, settings: Settings) -> Iterator[Manifest]:
    """What makes the Secrets that the task's values are read from, one a store."""
    for secret in external_secrets(job):
        body: dict[str, object] = {
            "apiVersion": "external-secrets.io/v1",
            "kind": "ExternalSecret",
            "metadata": metadata.object_metadata(job, settings, secret.name),
            "spec": secret.spec,
        }
        yield Manifest(f"external-secret-{secret.store}.yaml", "external-secret.yaml.j2", body)
