"""The value of a configuration key for one task on one target.

SkyPilot's configuration has scopes: a workspace on a context, a workspace, a context (or a
Slurm cluster and partition), everything. Which one holds differs from key to key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from compiler.model.config_merge import ConfigClash, lay_over, merge_config, merge_pod_config
from compiler.model.stack import DEFAULT_WORKSPACE, TargetKind

__all__ = ["ConfigClash", "lay_over", "local_queue", "merge_config", "merge_pod_config", "scoped"]

_FIRST_FOUND = frozenset({"namespace", "kueue", "quota"})
_KUBERNETES_OBJECTS = frozenset({"pod_config", "custom_metadata"})
_LAID_OVER = frozenset({"sbatch_options", "gpu_partition_map"})
_MISSING = object()
Section = Mapping[str, Any]


def scoped(
    config: Section,
    kind: TargetKind,
    target_key: str,
    workspace: str | None,
    task_config: Section,
    key: str,
    *,
    partition: str | None = None,
    default: Any = None,
) -> Any:
    """The value of `<kind>.<key>`: of `config` (a stack's) under `task_config` (a task's).

    `target_key` is the context, cluster or region; the task's `active_workspace` beats
    `workspace`. On Kubernetes `namespace`, `kueue` and `quota` come from the first scope that
    has them (workspace and context, workspace, context, global), other keys from the global
    scope with the context's laid over. On Slurm the cluster's value replaces the global one,
    except `gpu_partition_map` and `sbatch_options`, which are laid over one another key by
    key (global, cluster, partition, workspace, task).
    """
    active = task_config.get("active_workspace") or workspace or DEFAULT_WORKSPACE
    own = _section(config, kind.value)
    shared = _section(_section(_section(config, "workspaces"), str(active)), kind.value)
    task = _section(task_config, kind.value).get(key, _MISSING)
    if kind is TargetKind.KUBERNETES:
        value = _kubernetes(own, shared, target_key, key)
    elif kind is TargetKind.SLURM:
        value = _slurm(own, shared, target_key, partition, key)
    else:
        value = _laid_over((own.get(key, _MISSING), shared.get(key, _MISSING)))
    value = _over(value, task, key)
    return default if value is _MISSING else value


def local_queue(
    config: Section, target_key: str, workspace: str | None, task_config: Section
) -> str | None:
    """Kueue's LocalQueue for the task: `quota.queue` beats `kueue.local_queue_name` in a scope."""
    active = str(task_config.get("active_workspace") or workspace or DEFAULT_WORKSPACE)
    own = _section(config, "kubernetes")
    shared = _section(_section(_section(config, "workspaces"), active), "kubernetes")
    task = _section(task_config, "kubernetes")
    for scope in (task, *_kubernetes_scopes(own, shared, target_key)):
        name = _section(scope, "quota").get("queue") or _section(scope, "kueue").get(
            "local_queue_name"
        )
        if name:
            return str(name)
    return None


def _section(value: Section, key: str) -> Section:
    found = value.get(key)
    return found if isinstance(found, Mapping) else {}


def _kubernetes_scopes(own: Section, shared: Section, context: str) -> tuple[Section, ...]:
    """From the narrowest to the widest."""
    return (
        _section(_section(shared, "context_configs"), context),
        shared,
        _section(_section(own, "context_configs"), context),
        own,
    )


def _kubernetes(own: Section, shared: Section, context: str, key: str) -> Any:
    scopes = _kubernetes_scopes(own, shared, context)
    if key in _FIRST_FOUND:
        return next((scope[key] for scope in scopes if scope.get(key) is not None), _MISSING)
    value: Any = _MISSING
    for scope in reversed(scopes):
        value = _over(value, scope.get(key, _MISSING), key)
    return value


def _slurm(own: Section, shared: Section, cluster: str, partition: str | None, key: str) -> Any:
    at_cluster = _section(_section(own, "cluster_configs"), cluster)
    shared_at_cluster = _section(_section(shared, "cluster_configs"), cluster)
    layers = [own, at_cluster]
    if partition is not None:
        layers.append(_section(_section(at_cluster, "partition_configs"), partition))
    layers += [shared, shared_at_cluster]
    if partition is not None:
        layers.append(_section(_section(shared_at_cluster, "partition_configs"), partition))
    values = [layer.get(key, _MISSING) for layer in layers]
    if key in _LAID_OVER:
        return _laid_over(values)
    return next((value for value in reversed(values) if value is not _MISSING), _MISSING)


def _over(low: Any, high: Any, key: str) -> Any:
    """`high` over `low`, as one layer goes over another."""
    if high is _MISSING or low is _MISSING:
        return low if high is _MISSING else high
    if not isinstance(low, Mapping) or not isinstance(high, Mapping):
        return high
    merge = merge_pod_config if key in _KUBERNETES_OBJECTS else merge_config
    return merge((low, high))


def _laid_over(values: Iterable[Any]) -> Any:
    """Maps key by key, the later over the earlier; anything else replaces."""
    result: Any = _MISSING
    for value in values:
        if value is _MISSING:
            continue
        both = isinstance(result, Mapping) and isinstance(value, Mapping)
        result = {**result, **value} if both else value
    return result
