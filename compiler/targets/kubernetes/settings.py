"""What the stack and the task's configuration say about pods, resolved for one job.

Scopes from high to low, as the dialect has them: the task's own `config`, the workspace on
this context, the workspace, the target and its context, everything else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from compiler.model import Deployer, Origin, TargetKind
from compiler.model.config import local_queue, scoped
from compiler.targets.interface import Job

# Has Python, pip, git, curl, tar and a compiler like the dialect's own image, is public, is
# Debian's glibc (getent), and its tag names both versions.
DEFAULT_IMAGE = "docker.io/library/python:3.12-bookworm"
# Seconds for which a rank waits for its peers to get an address: image pulls of many GB and
# new nodes take minutes; two tasks that each hold half of a cluster must not wait for ever.
PEER_TIMEOUT = 3600
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
    `peer_timeout` in seconds, 0 for ever. Layers go from low to high.
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
    ttl: int | None
    allowed_nodes: Mapping[str, object]
    pod_config: tuple[Layer, ...]
    custom_metadata: tuple[Layer, ...]


def settings_of(job: Job) -> Settings:
    """Resolve everything that a job's manifests depend on beside the task."""
    stack, options = job.stack, job.target.options
    context = str(options.get("context") or job.target.key)

    def value(key: str) -> Any:
        return scoped(
            stack.config, TargetKind.KUBERNETES, context, stack.workspace, job.task.config, key
        )

    queue, queue_missing = _queue(job, context)
    scheme = str(options.get("labels") or value("autoscaler") or "gfd")
    timeout, nodes = value("provision_timeout"), value("allowed_nodes")
    layers = list(_layers(job, context))
    return Settings(
        context=context,
        namespace=_namespace(job, context),
        version=job.target.version,
        scheme=_AUTOSCALER_SCHEMES.get(scheme, scheme),
        queue=queue,
        queue_missing=queue_missing,
        default_image=str(options.get("default_image") or DEFAULT_IMAGE),
        service_account=_service_account(value("remote_identity"), context),
        limits=_limits(value("set_pod_resource_limits")),
        peer_timeout=PEER_TIMEOUT if timeout is None else max(0, int(timeout)),
        ttl=None if stack.gitops else _whole(options.get("ttl_seconds_after_finished")),
        allowed_nodes=nodes if isinstance(nodes, Mapping) else {},
        pod_config=tuple(_sub_layers(layers, "pod_config")),
        custom_metadata=tuple(_sub_layers(layers, "custom_metadata")),
    )


def workspace_of(job: Job) -> str | None:
    """The workspace that the work belongs to, None where nobody names one."""
    name = job.task.config.get("active_workspace") or job.stack.workspace
    return str(name) if name else None


def _layers(job: Job, context: str) -> Iterator[Layer]:
    """The `kubernetes` sections that concern this job, from low to high."""
    roots: list[tuple[str, ...]] = [("config", "kubernetes")]
    workspace = workspace_of(job)
    if workspace is not None:
        roots.append(("config", "workspaces", workspace, "kubernetes"))
    for path in roots:
        section: object = job.stack.config
        for step in path[1:]:
            section = section.get(step) if isinstance(section, Mapping) else None
        if isinstance(section, Mapping):
            origin = job.stack.origin.child(*path)
            yield Layer(section, origin)
            scopes = section.get("context_configs")
            narrow = scopes.get(context) if isinstance(scopes, Mapping) else None
            if isinstance(narrow, Mapping):
                yield Layer(narrow, origin.child("context_configs", context))
    section = job.task.config.get("kubernetes")
    if isinstance(section, Mapping):
        yield Layer(section, job.task.origin.child("config", "kubernetes"))


def _sub_layers(layers: list[Layer], key: str) -> Iterator[Layer]:
    for layer in layers:
        value = layer.value.get(key)
        if isinstance(value, Mapping) and value:
            yield Layer(value, layer.origin.child(key))


def _of_workspace(job: Job, key: str) -> object:
    """A value of the stack's own `workspaces`, for this target first."""
    workspace = job.stack.workspaces.get(workspace_of(job) or "", {})
    for scope in (job.target.key, ""):
        value = workspace.get(scope, {}).get(key)
        if value:
            return value
    return None


def _namespace(job: Job, context: str) -> str | None:
    def configured(config: Mapping[str, Any]) -> object:
        kind, workspace = TargetKind.KUBERNETES, job.stack.workspace
        return scoped(config, kind, context, workspace, job.task.config, "namespace")

    named = (
        _of_workspace(job, "namespace")
        or configured(_workspaces_only(job))
        or job.target.options.get("namespace")
        or configured(job.stack.config)
    )
    if named:
        return str(named)
    # Whoever applies written files may be in any context; the namespace has to be in them.
    return "default" if job.target.deployer is Deployer.DIRECTORY else None


def _queue(job: Job, context: str) -> tuple[str | None, bool]:
    """(LocalQueue, whether one is wanted but not named)."""
    option = job.target.options.get("queue")
    kind = option.get("kind") if isinstance(option, Mapping) else option
    if kind == "none":
        return None, False
    workspace, task = job.stack.workspace, job.task.config
    named = (
        local_queue({}, context, None, task)
        or _of_workspace(job, "queue")
        or local_queue(_workspaces_only(job), context, workspace, task)
        or (option.get("name") if isinstance(option, Mapping) else None)
        or local_queue(job.stack.config, context, workspace, task)
    )
    return (str(named) if named else None), kind == "kueue" and not named


def _workspaces_only(job: Job) -> dict[str, Any]:
    """The part of the configuration that is narrower than the target itself."""
    return {"workspaces": job.stack.config.get("workspaces") or {}}


def _service_account(identity: object, context: str) -> str | None:
    """The account that `remote_identity` names, or its first glob for the context."""
    if isinstance(identity, Mapping):
        from fnmatch import fnmatchcase

        identity = next(
            (value for pattern, value in identity.items() if fnmatchcase(context, str(pattern))),
            None,
        )
    return str(identity) if identity and identity not in _IDENTITY_WORDS else None


def _limits(value: object) -> float | None:
    if isinstance(value, bool):
        return 1.0 if value else None
    return float(value) if isinstance(value, int | float) else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
