"""Which rows of the support table a task makes use of, and what is said about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostics import Code, Diagnostic, Span
from compiler.diagnostics.codes.targets import FIELD_CHANGED, FIELD_IGNORED, FIELD_REFUSED
from compiler.model import Resources, Stack, TargetSpec, Task
from compiler.targets.interface import SupportLevel
from compiler.targets.kubernetes.support import SUPPORT

_CODES: Mapping[SupportLevel, Code] = {
    SupportLevel.CHANGED: FIELD_CHANGED,
    SupportLevel.IGNORED: FIELD_IGNORED,
    SupportLevel.REFUSED: FIELD_REFUSED,
}


def losses(task: Task, resources: Resources, target: TargetSpec) -> Iterator[Diagnostic]:
    """What this candidate of the task loses, or is refused for, on Kubernetes."""
    for field, span in (*_task_uses(task), *_resource_uses(task, resources)):
        yield from _diagnostic(field, span, target)


def stack_losses(stack: Stack, target: TargetSpec) -> Iterator[Diagnostic]:
    """What the stack's own `config.kubernetes` loses on this target."""
    kubernetes = stack.config.get("kubernetes")
    if not isinstance(kubernetes, Mapping):
        return
    origin = stack.origin.child("config", "kubernetes")
    for field, path in _kubernetes_uses(kubernetes):
        yield from _diagnostic(field, origin.key_span(*path), target)
    context = str(target.options.get("context") or target.key)
    scoped = (kubernetes.get("context_configs") or {}).get(context)
    if isinstance(scoped, Mapping):
        for field, path in _kubernetes_uses(scoped):
            yield from _diagnostic(
                field, origin.key_span("context_configs", context, *path), target
            )


def _diagnostic(field: str, span: Span, target: TargetSpec) -> Iterator[Diagnostic]:
    row = SUPPORT[field]
    code = _CODES.get(row.level)
    if code is not None:
        shown = field.partition(" (")[0]
        yield code.at(
            span,
            f"`{shown}` on Kubernetes: {row.note}",
            hint=row.hint or None,
            target=target.key,
        )


def _task_uses(task: Task) -> Iterator[tuple[str, Span]]:
    """(row, where) of each row that the task as a whole makes use of."""
    for key in ("event_callback", "inputs", "outputs", "service", "pool"):
        if key in task.given:
            yield key, task.origin.key_span(key)
    if "api_server_access" in task.given and task.api_server_access:
        yield "api_server_access", task.origin.key_span("api_server_access")
    for mount in task.file_mounts:
        if "://" in mount.source:
            yield "file_mounts (URL)", mount.origin.span()
    for storage in task.storage:
        yield "file_mounts (storage)", storage.origin.key_span()
    for volume in task.volumes:
        yield "volumes", volume.origin.key_span()
    for place, names in (("envs", task.envs), ("secrets", task.secrets)):
        for name in names:
            if name.startswith("SKYPILOT_DOCKER_"):
                yield "envs.SKYPILOT_DOCKER_*", task.origin.key_span(place, name)
                break
    config = task.origin.child("config")
    if task.hooks:
        yield "config.hooks", config.key_span("hooks")
    if task.native_script is not None:
        yield "config.triplane.native_script", config.key_span("triplane", "native_script")
    for key in ("docker", "nvidia_gpus"):
        if task.config.get(key):
            yield f"config.{key}", config.key_span(key)
    kubernetes = task.config.get("kubernetes")
    if isinstance(kubernetes, Mapping):
        for field, path in _kubernetes_uses(kubernetes):
            yield field, config.key_span("kubernetes", *path)


def _kubernetes_uses(config: Mapping) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(row, path below it) for a `kubernetes` section of the task or the stack."""
    prefix = "config.kubernetes"
    if config.get("provision_timeout") is not None:
        yield f"{prefix}.provision_timeout", ("provision_timeout",)
    kueue = config.get("kueue")
    if isinstance(kueue, Mapping) and kueue.get("admission_timeout") is not None:
        yield f"{prefix}.kueue.admission_timeout", ("kueue", "admission_timeout")
    dws = config.get("dws")
    if isinstance(dws, Mapping) and dws.get("enabled"):
        yield f"{prefix}.dws", ("dws",)
    if config.get("enable_docker"):
        yield f"{prefix}.enable_docker", ("enable_docker",)
    nodes = config.get("allowed_nodes")
    if isinstance(nodes, Mapping) and nodes.get("ips"):
        yield f"{prefix}.allowed_nodes.ips", ("allowed_nodes", "ips")
    for key in ("auto_mounts", "post_provision_runcmd", "rdma"):
        if config.get(key):
            yield f"{prefix}.{key}", (key,)
    if config.get("remote_identity") in ("SERVICE_ACCOUNT", "LOCAL_CREDENTIALS"):
        yield (
            f"{prefix}.remote_identity (SERVICE_ACCOUNT, LOCAL_CREDENTIALS)",
            ("remote_identity",),
        )


def _resource_uses(task: Task, resources: Resources) -> Iterator[tuple[str, Span]]:
    def use(key: str, variant: str = "") -> tuple[str, Span]:
        name = f"resources.{key} ({variant})" if variant else f"resources.{key}"
        return name, resources.origin_of(key).key_span()

    given = resources.given
    for key in ("accelerator_args", "disk_tier", "local_disk", "ports", "priority", "volumes"):
        if key in given and (key == "volumes" or getattr(resources, key) not in (None, (), {})):
            yield use(key)
    if resources.use_spot:
        yield use("use_spot")
    if resources.cpus is not None and resources.cpus.at_least:
        yield use("cpus", "N+")
    if resources.memory is not None and resources.memory.at_least:
        yield use("memory", "N+")
    if resources.accelerator is not None and resources.accelerator.count % 1:
        written = "gpus" if "gpus" in given else "accelerators"
        yield "resources.accelerators (fraction)", resources.origin_of(written).key_span()
    if resources.instance_type is not None and "--" in resources.instance_type:
        yield use("instance_type", "of the form 4CPU--16GB")
    if resources.network_tier == "best":
        yield use("network_tier", "best")
    image = resources.image
    if image is not None and image.docker is None:
        yield use("image_id", "machine image")
    recovery = resources.job_recovery
    if recovery is not None and (recovery.strategy or "").lower() != "none":
        yield use("job_recovery")
    if resources.autostop is not None:
        yield use("autostop", "" if task.run is not None else "without run")
