"""SkyPilot's own configuration: merging its layers, and the value that holds in one place.

Layers are plain maps, lists and scalars. Nothing here changes its arguments; parts of them
are shared with the results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

MergeKey = Callable[[tuple[str, ...]], str | tuple[str, ...] | None]
"""`key(path)`: the field (or fields) that the items of the list at `path` are matched by, if
they are."""

BY_NAME = frozenset(
    {
        "containers",
        "initContainers",
        "ephemeralContainers",
        "volumes",
        "resourceClaims",
        "env",
        "claims",
    }
)
_KEYS = {
    "volumeMounts": "mountPath",
    "hostAliases": "ip",
    "topologySpreadConstraints": "topologyKey",
    "ports": "containerPort",
    "volumeDevices": "devicePath",
    **dict.fromkeys(BY_NAME, "name"),
}
_REPLACED = frozenset({"args", "command", "imagePullSecrets"})
_KUBERNETES_OBJECTS = frozenset({"pod_config", "custom_metadata"})
_MISSING = object()


class ConfigClash(ValueError):
    """A map on one side and a list on the other; `path` is where."""

    def __init__(self, path: tuple[str, ...]) -> None:
        super().__init__(f"`{'.'.join(path)}` is a map in one layer and a list in another")
        self.path = path


def merge_config(layers: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The layers, low to high, as one: maps recursively, all else replaced by the higher one.

    `kubernetes.pod_config` and `kubernetes.custom_metadata`, wherever they stand below
    `kubernetes` or `workspaces`, are merged as Kubernetes objects (`merge_pod_config`).
    """
    result: dict[str, Any] = {}
    for layer in layers:
        result = _merged(result, layer, in_kubernetes=False)
    return result


def _merged(low: Mapping[str, Any], high: Mapping[str, Any], *, in_kubernetes: bool) -> dict:
    result = dict(low)
    for key, value in high.items():
        below = result.get(key)
        if not isinstance(value, Mapping) or not isinstance(below, Mapping):
            result[key] = value
        elif in_kubernetes and key in _KUBERNETES_OBJECTS:
            result[key] = merge_pod_config((below, value))
        else:
            result[key] = _merged(below, value, in_kubernetes=in_kubernetes or key == "kubernetes")
    return result


def skypilot_merge_key(path: tuple[str, ...]) -> str | None:
    """The fields that SkyPilot matches list items by."""
    return _KEYS.get(path[-1])


def merge_pod_config(
    layers: Iterable[Mapping[str, Any]], merge_key: MergeKey = skypilot_merge_key
) -> dict[str, Any]:
    """Kubernetes objects, low to high, as one.

    Maps recursively; lists with a merge key by that key, items without a partner appended;
    `args`, `command` and `imagePullSecrets` as a whole; all other lists appended, equal items
    once. So merging the same layer twice changes nothing. A container without a name is
    merged into the first one. Scalars and null replace. Raises ConfigClash.
    """
    result: dict[str, Any] = {}
    for layer in layers:
        result = lay_over(result, layer, merge_key)
    return result


def lay_over(
    low: Mapping[str, Any], high: Mapping[str, Any], merge_key: MergeKey = skypilot_merge_key
) -> dict[str, Any]:
    """One more layer over an object that is merged already, as `merge_pod_config` lays it."""
    return _object(low, high, (), merge_key)


def _object(
    low: Mapping[str, Any], high: Mapping[str, Any], path: tuple[str, ...], merge_key: MergeKey
) -> dict[str, Any]:
    result = dict(low)
    for key, value in high.items():
        where = (*path, key)
        below = result.get(key)
        if isinstance(value, Mapping) and isinstance(below, list):
            raise ConfigClash(where)
        if isinstance(value, list) and isinstance(below, Mapping):
            raise ConfigClash(where)
        if isinstance(value, Mapping):
            result[key] = _object(below or {}, value, where, merge_key)
        elif isinstance(value, list):
            result[key] = _list(below or [], value, where, merge_key)
        else:
            result[key] = value
    return result


def _list(low: list[Any], high: list[Any], path: tuple[str, ...], merge_key: MergeKey) -> list[Any]:
    if path[-1] in _REPLACED:
        return list(high)
    key = merge_key(path)
    result = list(low)
    for item in high:
        if key is None or not isinstance(item, Mapping):
            if item not in result:
                result.append(item)
            continue
        at = _partner(result, item, key, path)
        if at is None:
            result.append(_object({}, item, path, merge_key))
        else:
            result[at] = _object(result[at], item, path, merge_key)
    return result


def _partner(
    items: list[Any],
    wanted: Mapping[str, Any],
    key: str | tuple[str, ...],
    path: tuple[str, ...],
) -> int | None:
    fields = (key,) if isinstance(key, str) else key
    if fields[0] not in wanted:
        if path[-1] == "containers" and items:
            return 0
        return next((at for at, item in enumerate(items) if item == wanted), None)
    found = (
        at
        for at, item in enumerate(items)
        if isinstance(item, Mapping)
        and all(item.get(field, _MISSING) == wanted.get(field, _MISSING) for field in fields)
    )
    return next(found, None)
