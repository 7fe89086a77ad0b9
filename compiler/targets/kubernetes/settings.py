"""What the stack and the task's configuration say about pods, resolved for one job.

Scopes from high to low, as the dialect has them: the task's own `config`, the workspace on
this context, the workspace, the target and its context, everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from compiler.model import Deployer, Origin, Stack, TargetKind, TargetSpec, VolumeMount
from compiler.model.config import local_queue, scoped
from compiler.targets.interface import Job

# Has Python, pip, git, curl, tar and a compiler like the dialect's own image, is public, is
# Debian's glibc (getent), and its tag names both versions.
DEFAULT_IMAGE = "docker.io/library/python:3.12-bookworm"
# Seconds for which a rank waits for its peers to get an address: image pulls of many GB and
# new nodes take minutes; two tasks that each hold half of a cluster must not wait for ever.
PEER_TIMEOUT = 3600
# Keys of which a task's value is only one more layer over what holds without it.
_LAID_OVER = frozenset(("pod_config", "custom_metadata"))
_AUTOSCALER_SCHEMES = {"generic": "skypilot"}
# Words of `remote_identity` that are no service account's name.
_IDENTITY_WORDS = ("SERVICE_ACCOUNT", "LOCAL_CREDENTIALS", "NO_UPLOAD")


@dataclass(frozen=True, slots=True)
class Layer:
    """A map of configuration and where it was written."""

    value: Mapping[str, object]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Settings:
    """`namespace` None: the context's own. `scheme` names the way nodes are labelled.

    `queue` is a LocalQueue (None: no Kueue); `queue_missing` says that Kueue is wanted, but no
    queue is named. `limits` is the factor from requests to limits (None: no limits).
    `first_commands` are run in every pod before anything of the task is.
    `peer_timeout` in seconds, 0 for ever; `start_within` likewise, None for ever. `ports` is how
    ports are opened, `requests_metric` the metric by which services scale. Layers go from low to
    high.
    """

    context: str
    namespace: str | None
    version: str | None
    scheme: str
    queue: str | None
    queue_missing: bool
    default_image: str
    service_account: str | None
    limits: float | None
    peer_timeout: int
    start_within: int | None
    ttl: int | None
    allowed_nodes: Mapping[str, object]
    auto_mounts: tuple[VolumeMount, ...]
    rdma: Mapping[str, object]
    dws: Mapping[str, object]
    enable_docker: object
    first_commands: tuple[str, ...]
    ports: str
    requests_metric: str | None
    pod_config: tuple[Layer, ...]
    custom_metadata: tuple[Layer, ...]


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where a value is looked for; `config` is the task's own, `origin` where it stands."""

    stack: Stack
    target: TargetSpec
    context: str
    config: Mapping[str, object]
    origin: Origin

    @property
    def workspace(self) -> str | None:
        """The workspace that the work belongs to, None where nobody names one."""
        name = self.config.get("active_workspace") or self.stack.workspace
        return str(name) if name else None

    def value(self, key: str) -> Any:
        return self.value_in(self.stack.config, key)

    def value_in(self, config: Mapping[str, Any], key: str) -> Any:
        kind, workspace = TargetKind.KUBERNETES, self.stack.workspace
        return scoped(config, kind, self.context, workspace, self.config, key)


def settings_of(job: Job) -> Settings:
    """Resolve everything that a job's manifests depend on beside the task."""
    config = job.task.config
    settings = _of_stack(job.stack, job.target, config.get("active_workspace"))
    own = config.get("kubernetes")
    if not isinstance(own, Mapping) or not own:
        return settings
    origin = job.task.origin.child("config")
    if not own.keys() <= _LAID_OVER:
        return _resolved(_scope(job.stack, job.target, config, origin))
    layers = [Layer(own, origin.child("kubernetes"))]
    return replace(
        settings,
        pod_config=(*settings.pod_config, *_sub_layers(layers, "pod_config")),
        custom_metadata=(*settings.custom_metadata, *_sub_layers(layers, "custom_metadata")),
    )


@lru_cache(maxsize=256)
def scheme_of(target: TargetSpec) -> str:
    """How the target's nodes are labelled, whoever's work comes to them: placement asks before
    there is a job. The stack's own configuration stands in the target's document."""
    named = target.options.get("labels")
    config = target.origin.document.data.get("config")
    kubernetes = config.get("kubernetes") if isinstance(config, Mapping) else None
    if named is None and isinstance(kubernetes, Mapping):
        context = str(target.options.get("context") or target.key)
        narrow = _map(_map(kubernetes.get("context_configs")).get(context))
        named = narrow.get("autoscaler") or kubernetes.get("autoscaler")
    scheme = str(named or "gfd")
    return _AUTOSCALER_SCHEMES.get(scheme, scheme)


@lru_cache(maxsize=64)
def _of_stack(stack: Stack, target: TargetSpec, workspace: object) -> Settings:
    """What holds for every task that says nothing itself: the same for thousands of them."""
    return _resolved(_scope(stack, target, {"active_workspace": workspace}, stack.origin))


def _scope(
    stack: Stack, target: TargetSpec, config: Mapping[str, object], origin: Origin
) -> _Scope:
    return _Scope(stack, target, str(target.options.get("context") or target.key), config, origin)


def _resolved(scope: _Scope) -> Settings:
    stack, target, options = scope.stack, scope.target, scope.target.options
    queue, queue_missing = _queue(scope)
    scheme = str(options.get("labels") or scope.value("autoscaler") or "gfd")
    timeout = scope.value("provision_timeout")
    layers = list(_layers(scope))
    return Settings(
        context=scope.context,
        namespace=_namespace(scope),
        version=target.version,
        scheme=_AUTOSCALER_SCHEMES.get(scheme, scheme),
        queue=queue,
        queue_missing=queue_missing,
        default_image=str(options.get("default_image") or DEFAULT_IMAGE),
        service_account=_service_account(scope.value("remote_identity"), scope.context),
        limits=_limits(scope.value("set_pod_resource_limits")),
        peer_timeout=PEER_TIMEOUT if timeout is None else max(0, int(timeout)),
        start_within=_start_within(timeout, layers, queue),
        ttl=None if stack.gitops else _whole(options.get("ttl_seconds_after_finished")),
        allowed_nodes=_map(scope.value("allowed_nodes")),
        auto_mounts=tuple(_auto_mounts(layers)),
        rdma=_map(scope.value("rdma")),
        dws=_map(scope.value("dws")),
        enable_docker=scope.value("enable_docker"),
        first_commands=tuple(map(str, scope.value("post_provision_runcmd") or ())),
        ports=str(scope.value("ports") or "loadbalancer").lower(),
        requests_metric=_requests_metric(options.get("metrics")),
        pod_config=tuple(_sub_layers(layers, "pod_config")),
        custom_metadata=tuple(_sub_layers(layers, "custom_metadata")),
    )


def _layers(scope: _Scope) -> Iterator[Layer]:
    """The `kubernetes` sections that concern this job, from low to high."""
    roots: list[tuple[str, ...]] = [("config", "kubernetes")]
    if scope.workspace is not None:
        roots.append(("config", "workspaces", scope.workspace, "kubernetes"))
    for path in roots:
        section: object = scope.stack.config
        for step in path[1:]:
            section = section.get(step) if isinstance(section, Mapping) else None
        if isinstance(section, Mapping):
            origin = scope.stack.origin.child(*path)
            yield Layer(section, origin)
            scopes = section.get("context_configs")
            narrow = scopes.get(scope.context) if isinstance(scopes, Mapping) else None
            if isinstance(narrow, Mapping):
                yield Layer(narrow, origin.child("context_configs", scope.context))
    section = scope.config.get("kubernetes")
    if isinstance(section, Mapping):
        yield Layer(section, scope.origin.child("kubernetes"))


def _sub_layers(layers: list[Layer], key: str) -> Iterator[Layer]:
    for layer in layers:
        value = layer.value.get(key)
        if isinstance(value, Mapping) and value:
            yield Layer(value, layer.origin.child(key))


def _auto_mounts(layers: list[Layer]) -> Iterator[VolumeMount]:
    """Of the narrowest layer that has any, as lists replace each other."""
    layer = next((item for item in reversed(layers) if item.value.get("auto_mounts")), None)
    entries = layer.value["auto_mounts"] if layer is not None else None
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        assert layer is not None
        origin = layer.origin.child("auto_mounts", index)
        for path in entry["mount_paths"]:
            yield VolumeMount(str(path), name=str(entry["volume_name"]), origin=origin)


def _of_workspace(scope: _Scope, key: str) -> object:
    """A value of the stack's own `workspaces`, for this target first."""
    workspace = scope.stack.workspaces.get(scope.workspace or "", {})
    for target in (scope.target.key, ""):
        value = workspace.get(target, {}).get(key)
        if value:
            return value
    return None


def _namespace(scope: _Scope) -> str | None:
    named = (
        _of_workspace(scope, "namespace")
        or scope.value_in(_workspaces_only(scope), "namespace")
        or scope.target.options.get("namespace")
        or scope.value("namespace")
    )
    if named:
        return str(named)
    # Whoever applies written files may be in any context; the namespace has to be in them.
    return "default" if scope.target.deployer is Deployer.DIRECTORY else None


def _queue(scope: _Scope) -> tuple[str | None, bool]:
    """(LocalQueue, whether one is wanted but not named)."""
    option = scope.target.options.get("queue")
    kind = option.get("kind") if isinstance(option, Mapping) else option
    if kind == "none":
        return None, False
    context, workspace, task = scope.context, scope.stack.workspace, scope.config
    named = (
        local_queue({}, context, None, task)
        or _of_workspace(scope, "queue")
        or local_queue(_workspaces_only(scope), context, workspace, task)
        or (option.get("name") if isinstance(option, Mapping) else None)
        or local_queue(scope.stack.config, context, workspace, task)
    )
    return (str(named) if named else None), kind == "kueue" and not named


def _workspaces_only(scope: _Scope) -> dict[str, Any]:
    """The part of the configuration that is narrower than the target itself."""
    return {"workspaces": scope.stack.config.get("workspaces") or {}}


def _service_account(identity: object, context: str) -> str | None:
    """The account that `remote_identity` names, or its first glob for the context."""
    if isinstance(identity, Mapping):
        from fnmatch import fnmatchcase

        identity = next(
            (value for pattern, value in identity.items() if fnmatchcase(context, str(pattern))),
            None,
        )
    return str(identity) if identity and identity not in _IDENTITY_WORDS else None


def _start_within(timeout: Any, layers: list[Layer], queue: str | None) -> int | None:
    """Seconds until the start is given up. In a queue the time starts with the admission, which
    has a limit of its own: without one nothing is given up there."""
    start = _seconds(timeout)
    if queue is None:
        return start
    given = [_map(layer.value.get("kueue")).get("admission_timeout") for layer in layers]
    admission = _seconds(next((value for value in reversed(given) if value is not None), None))
    return None if admission is None else admission + (start or 0)


def _seconds(value: Any) -> int | None:
    return None if value is None or int(value) < 0 else int(value)


def _limits(value: object) -> float | None:
    if isinstance(value, bool):
        return 1.0 if value else None
    return float(value) if isinstance(value, int | float) else None


def _requests_metric(option: object) -> str | None:
    value = option.get("requests_per_second") if isinstance(option, Mapping) else None
    return str(value) if value else None


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
