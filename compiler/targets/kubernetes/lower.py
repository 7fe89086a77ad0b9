"""From a job to the plain data of its Kubernetes objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import kubernetes as codes
from compiler.targets.interface import Job
from compiler.targets.kubernetes import metadata, pod_config
from compiler.targets.kubernetes.accelerators import NoSelection, Selection, select
from compiler.targets.kubernetes.files import packed_files
from compiler.targets.kubernetes.findings import as_diagnostics, protected_faults
from compiler.targets.kubernetes.metadata import Names
from compiler.targets.kubernetes.pod import PodInput, pod_template
from compiler.targets.kubernetes.requests import node_request
from compiler.targets.kubernetes.scripts import scripts
from compiler.targets.kubernetes.secrets import SecretUse, external_secrets, secret_uses
from compiler.targets.kubernetes.settings import Layer, Settings


@dataclass(frozen=True, slots=True)
class Manifest:
    """One object: `file` is its name in the job's folder, `template` below templates/k8s/."""

    file: str
    template: str
    body: dict[str, object]

    @property
    def address(self) -> str:
        """`Job/llama-pretrain-1`."""
        return f"{self.body['kind']}/{self.body['metadata']['name']}"  # type: ignore[index]


def lower(job: Job, settings: Settings, diagnostics: Diagnostics) -> list[Manifest]:
    """All objects of one run, the ones that others need first.

    What cannot be expressed goes to `diagnostics`; what was lowered is then of no use.
    """
    names = metadata.names_of(job)
    diagnostics.extend(metadata.too_long(job, names))
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
    if diagnostics.has_errors:
        return []
    secrets = secret_uses(job, names.secrets, diagnostics)
    manifests = [
        _config_map(
            job,
            settings,
            "scripts.yaml",
            names.scripts,
            data=scripts(job, settings, names, secrets),
        )
    ]
    files = packed_files(job, diagnostics)
    if files:
        manifests.append(_config_map(job, settings, "files.yaml", names.files, binary_data=files))
    manifests += _external_secrets(job, settings)
    manifests += _services(job, settings, names)
    manifests.append(_job(job, settings, names, secrets, bool(files), diagnostics))
    return manifests


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


def _job(
    job: Job,
    settings: Settings,
    names: Names,
    secrets: list[SecretUse],
    has_files: bool,
    diagnostics: Diagnostics,
) -> Manifest:
    layers = settings.pod_config
    generated = pod_template(
        PodInput(
            job=job,
            settings=settings,
            names=names,
            request=node_request(job.resources),
            selection=selection_of(job, settings, diagnostics),
            secrets=tuple(secrets),
            has_files=has_files,
            taken_paths=pod_config.mount_paths(layers),
            host_network=pod_config.uses_host_network(layers),
        )
    )
    template = generated
    if layers:
        for layer in layers:
            diagnostics.extend(_doubles(layer, job, settings))
        template = pod_config.merged_pod(generated, layers, settings.version, diagnostics)
        diagnostics.extend(protected_faults(settings, generated, template, job.target.key))
    spec: dict[str, object] = {
        "completionMode": "Indexed",
        "completions": job.task.num_nodes,
        "parallelism": job.task.num_nodes,
        # one rank that fails ends the others: a gang is restarted whole or not at all
        "backoffLimit": 0,
    }
    if settings.ttl is not None:
        spec["ttlSecondsAfterFinished"] = settings.ttl
    body: dict[str, object] = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata.object_metadata(
            job,
            settings,
            names.job,
            labels=metadata.job_labels(job, settings),
            annotations={
                metadata.SPEC_DIGEST: job.spec_digest,
                metadata.FILES_DIGEST: job.files_digest,
            },
        ),
        "spec": {**spec, "template": template},
    }
    return Manifest("job.yaml", "job.yaml.j2", body)


def _doubles(layer: Layer, job: Job, settings: Settings) -> Iterator[Diagnostic]:
    return as_diagnostics(
        pod_config.doubles(layer, settings.version),
        lambda path, at_key: layer.origin.span(*path),
        target=job.target.key,
        fallback=None,
        address="pod_config",
    )


def _services(job: Job, settings: Settings, names: Names) -> Iterator[Manifest]:
    """The names of the ranks, and for several ranks which of them are ready."""
    selector = {metadata.JOB_NAME: names.job}
    wanted = [("service.yaml", names.service, True)]
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


def _external_secrets(job: Job, settings: Settings) -> Iterator[Manifest]:
    for secret in external_secrets(job):
        body: dict[str, object] = {
            "apiVersion": "external-secrets.io/v1",
            "kind": "ExternalSecret",
            "metadata": metadata.object_metadata(job, settings, secret.name),
            "spec": secret.spec,
        }
        yield Manifest(f"external-secret-{secret.store}.yaml", "external-secret.yaml.j2", body)
