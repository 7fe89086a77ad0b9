"""Which rows of the support table a task makes use of, and what is said about them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.catalog.accelerators import Family, family
from compiler.catalog.aws import instance_type
from compiler.diagnostics import Code, Diagnostic, Span
from compiler.diagnostics.codes.catalog import ACCELERATOR_COUNT
from compiler.diagnostics.codes.kubernetes_features import RECOVERY_NEEDS_JOBSET
from compiler.diagnostics.codes.targets import FIELD_CHANGED, FIELD_IGNORED, FIELD_REFUSED
from compiler.model import Resources, Stack, Storage, TargetSpec, Task
from compiler.model.service import Service
from compiler.targets.interface import Job, SupportLevel
from compiler.targets.kubernetes.accelerators import count_problem
from compiler.targets.kubernetes.buckets import can_fetch, can_mount, url_of
from compiler.targets.kubernetes.exposure import certificate
from compiler.targets.kubernetes.kueue import needs_gke
from compiler.targets.kubernetes.priorities import priority_class
from compiler.targets.kubernetes.recovery import recovers
from compiler.targets.kubernetes.serving import scales
from compiler.targets.kubernetes.settings import Settings
from compiler.targets.kubernetes.spot import SPOT_LABELS
from compiler.targets.kubernetes.support import SUPPORT

_CODES: Mapping[SupportLevel, Code] = {
    SupportLevel.CHANGED: FIELD_CHANGED,
    SupportLevel.IGNORED: FIELD_IGNORED,
    SupportLevel.REFUSED: FIELD_REFUSED,
}
_OWN_CODES: Mapping[str, Code] = {"resources.job_recovery (no JobSet)": RECOVERY_NEEDS_JOBSET}


def losses(task: Task, resources: Resources, target: TargetSpec) -> Iterator[Diagnostic]:
    """What this candidate of the task loses, or is refused for, on Kubernetes."""
    for field, span in (*_task_uses(task, target), *_resource_uses(task, resources, target)):
        yield from _diagnostic(field, span, target)
    yield from count_faults(resources, target)


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
    code = _OWN_CODES.get(field) or _CODES.get(row.level)
    if code is not None:
        shown = field.partition(" (")[0]
        yield code.at(
            span,
            f"`{shown}` on Kubernetes: {row.note}",
            hint=row.hint or None,
            target=target.key,
        )


def _task_uses(task: Task, target: TargetSpec) -> Iterator[tuple[str, Span]]:
    """(row, where) of each row that the task as a whole makes use of."""
    for key in ("event_callback", "inputs", "outputs", "service", "pool"):
        if key in task.given:
            yield key, task.origin.key_span(key)
    if task.service is not None:
        yield from _service_uses(task, task.service, target)
    if "api_server_access" in task.given and task.api_server_access:
        yield "api_server_access", task.origin.key_span("api_server_access")
    for mount in task.file_mounts:
        if "://" in mount.source and not can_fetch(mount.source):
            yield "file_mounts (other store)", mount.origin.span()
    for storage in task.storage:
        yield from _storage_uses(storage)
    for place, names in (("envs", task.envs), ("secrets", task.secrets)):
        for name in names:
            if name.startswith("SKYPILOT_DOCKER_"):
                yield "envs.SKYPILOT_DOCKER_*", task.origin.key_span(place, name)
                break
    config = task.origin.child("config")
    for number, hook in enumerate(task.hooks):
        only_stops = set(hook.events) == {"stop"}
        row = "config.hooks (stop)" if only_stops else "config.hooks"
        yield row, config.key_span("hooks", number, "events" if only_stops else "run")
    if task.native_script is not None:
        yield "config.triplane.native_script", config.key_span("triplane", "native_script")
    for key in ("docker", "nvidia_gpus"):
        if task.config.get(key):
            yield f"config.{key}", config.key_span(key)
    kubernetes = task.config.get("kubernetes")
    if isinstance(kubernetes, Mapping):
        for field, path in _kubernetes_uses(kubernetes):
            yield field, config.key_span("kubernetes", *path)


def _storage_uses(storage: Storage) -> Iterator[tuple[str, Span]]:
    url = url_of(storage)
    reaches = can_fetch if storage.mode == "COPY" else can_mount
    if storage.source is not None and url is None:
        yield "file_mounts (storage to be filled)", storage.origin.span("source")
    elif url is None or not reaches(url):
        yield "file_mounts (other store)", storage.origin.key_span()
    elif storage.source is None:
        yield "file_mounts (new bucket)", storage.origin.span("name")
    if not storage.persistent:
        yield "file_mounts (not persistent)", storage.origin.key_span("persistent")


def _service_uses(task: Task, service: Service, target: TargetSpec) -> Iterator[tuple[str, Span]]:
    origin, written = service.origin, _written(task, "service")
    if task.num_nodes > 1:
        yield "service (several nodes)", task.origin.key_span("num_nodes")
    if service.tls is not None:
        row = "service.tls" if certificate(target) else "service.tls (no certificate)"
        yield row, origin.key_span("tls")
    for key in ("load_balancing_policy", "load_balancer"):
        if written.get(key) is not None:
            yield f"service.{key}", origin.key_span(key)
    policy = written.get("replica_policy")
    if not isinstance(policy, Mapping):
        return
    for key in ("dynamic_ondemand_fallback", "base_ondemand_fallback_replicas", "spot_placer"):
        if policy.get(key):
            yield "service.replica_policy (spot)", origin.key_span("replica_policy", key)
    if service.replica_policy.min_replicas == 0 and scales(service.replica_policy):
        span = origin.key_span("replica_policy", "min_replicas")
        yield "service.replica_policy (min_replicas: 0)", span


def _written(task: Task, key: str) -> Mapping:
    value = task.origin.document.data.get(key)
    return value if isinstance(value, Mapping) else {}


def _kubernetes_uses(config: Mapping) -> Iterator[tuple[str, tuple[str, ...]]]:
    """(row, path below it) for a `kubernetes` section of the task or the stack."""
    prefix = "config.kubernetes"
    if config.get("provision_timeout") is not None:
        yield f"{prefix}.provision_timeout", ("provision_timeout",)
    kueue = config.get("kueue")
    if isinstance(kueue, Mapping) and kueue.get("admission_timeout") is not None:
        yield f"{prefix}.kueue.admission_timeout", ("kueue", "admission_timeout")
    nodes = config.get("allowed_nodes")
    if isinstance(nodes, Mapping) and nodes.get("ips"):
        yield f"{prefix}.allowed_nodes.ips", ("allowed_nodes", "ips")
    if config.get("remote_identity") in ("SERVICE_ACCOUNT", "LOCAL_CREDENTIALS"):
        yield (
            f"{prefix}.remote_identity (SERVICE_ACCOUNT, LOCAL_CREDENTIALS)",
            ("remote_identity",),
        )


def _resource_uses(
    task: Task, resources: Resources, target: TargetSpec
) -> Iterator[tuple[str, Span]]:
    def use(key: str, variant: str = "") -> tuple[str, Span]:
        name = f"resources.{key} ({variant})" if variant else f"resources.{key}"
        return name, resources.origin_of(key).key_span()

    given = resources.given
    for key in ("accelerator_args", "disk_tier", "local_disk", "volumes"):
        if key in given and (key == "volumes" or getattr(resources, key) not in (None, (), {})):
            yield use(key)
    if "priority" in given and resources.priority is not None:
        if resources.priority_class is not None:
            yield use("priority", "beside priority_class")
        elif priority_class(resources, target) is None:
            yield use("priority", "no class")
    if resources.cpus is not None and resources.cpus.at_least:
        yield use("cpus", "N+")
    if resources.memory is not None and resources.memory.at_least:
        yield use("memory", "N+")
    if resources.accelerator is not None and resources.accelerator.count % 1:
        written = "gpus" if "gpus" in given else "accelerators"
        yield "resources.accelerators (fraction)", resources.origin_of(written).key_span()
    if _lacks_neuron(resources, target):
        written = "gpus" if "gpus" in given else "accelerators"
        span = resources.origin_of(written).key_span()
        yield "resources.accelerators (Neuron without image_id)", span
    if resources.instance_type is not None and "--" in resources.instance_type:
        yield use("instance_type", "of the form 4CPU--16GB")
    image = resources.image
    if image is not None and image.docker is None:
        yield use("image_id", "machine image")
    if recovers(resources) is not None:
        alone = task.num_nodes > 1 and target.options.get("jobset") is None
        yield use("job_recovery", "no JobSet" if alone else "")
    if resources.autostop is not None:
        yield use("autostop", "" if task.run is not None else "without run")


def _lacks_neuron(resources: Resources, target: TargetSpec) -> bool:
    """Whether the pod would run in our own default image, which knows no Neuron devices."""
    accelerator = resources.accelerator
    if accelerator is None or family(accelerator.name) is not Family.NEURON:
        return False
    named = resources.image is not None and resources.image.docker is not None
    return not named and target.options.get("default_image") is None


def count_faults(resources: Resources, target: TargetSpec) -> Iterator[Diagnostic]:
    """More accelerators than any node has, or than the instance type that is named."""
    accelerator = resources.accelerator
    if accelerator is None or accelerator.count % 1:
        return
    problem = count_problem(accelerator)
    known = instance_type(resources.instance_type or "")
    if problem is None and known is not None and known.accelerator == accelerator.name:
        has = known.accelerator_count
        if accelerator.count > has:
            problem = f"{known.name} has no {accelerator.count:g} {known.accelerator}", f"{has:g}"
    if problem is not None:
        written = "gpus" if "gpus" in resources.given else "accelerators"
        yield ACCELERATOR_COUNT.at(
            resources.origin_of(written).span(),
            problem[0],
            expected=problem[1],
            target=target.key,
        )


def spot_faults(resources: Resources, target: TargetSpec, scheme: str) -> Iterator[Diagnostic]:
    """Spot capacity on nodes whose labels do not tell it."""
    if resources.use_spot and scheme not in SPOT_LABELS:
        span = resources.origin_of("use_spot").key_span()
        yield from _diagnostic("resources.use_spot (no label)", span, target)


def scheme_faults(job: Job, settings: Settings) -> Iterator[Diagnostic]:
    """What the way in which the nodes are labelled rules out."""
    yield from spot_faults(job.resources, job.target, settings.scheme)
    if needs_gke(settings):
        own = job.task.config.get("kubernetes")
        written = isinstance(own, Mapping) and "dws" in own
        origin = job.task.origin if written else job.stack.origin
        span = origin.key_span("config", "kubernetes", "dws")
        yield from _diagnostic("config.kubernetes.dws (no GKE)", span, job.target)
