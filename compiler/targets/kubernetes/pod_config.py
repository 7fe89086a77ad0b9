"""`pod_config` laid over the generated pod, and the way back to where it was written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from compiler.diagnostics import Diagnostics, Span
from compiler.diagnostics.codes import kubernetes as codes
from compiler.model.config import ConfigClash, lay_over
from compiler.model.config_merge import MergeKey
from compiler.targets.kubernetes.check import check_part
from compiler.targets.kubernetes.scalars import Fault, Finding, Path
from compiler.targets.kubernetes.schema import KEY_DEFAULTS, nearest_version, schemas
from compiler.targets.kubernetes.settings import Layer

# The container that runs the task. SkyPilot's pods call theirs `ray-node`, and a container
# without a name means it too.
CONTAINER = "task"
_CONTAINER_ALIASES = ("ray-node", None)
POD_TYPE = "core.v1.PodTemplateSpec"


def merged_pod(
    pod: dict, layers: tuple[Layer, ...], version: str | None, diagnostics: Diagnostics
) -> dict:
    """`pod` (a template with metadata and spec) with the layers laid over it, low to high.

    The rules are SkyPilot's (`lay_over`), the keys of lists those of the Kubernetes
    version. A value that a layer sets to null is gone.
    """
    keys = _merge_keys(nearest_version(version))
    for layer in layers:
        try:
            pod = lay_over(pod, _with_container_names(layer.value), keys)
        except ConfigClash as clash:
            diagnostics.add(codes.POD_CONFIG_CLASH.at(layer.origin.span(*clash.path), str(clash)))
    return _without_nulls(pod)


def doubles(layer: Layer, version: str | None) -> Iterator[Finding]:
    """Entries of one list of the layer with the same key: merging would hide all but one."""
    for finding in check_part(_without_nulls(layer.value), POD_TYPE, (), version):
        if finding.fault is Fault.DUPLICATE:
            yield finding


def mount_paths(layers: tuple[Layer, ...]) -> frozenset[str]:
    """Where `pod_config` mounts something into the container of the task."""
    found = set()
    for layer in layers:
        for container in _task_containers(layer.value):
            for mount in container.get("volumeMounts") or ():
                if isinstance(mount, Mapping) and isinstance(mount.get("mountPath"), str):
                    found.add(mount["mountPath"].rstrip("/"))
    return frozenset(found)


def uses_host_network(layers: tuple[Layer, ...]) -> bool:
    """Whether the pods share their node's network, so that they need another DNS policy."""
    answer: object = False
    for layer in layers:
        spec = layer.value.get("spec")
        if isinstance(spec, Mapping) and "hostNetwork" in spec:
            answer = spec["hostNetwork"]
    return answer is True


def written_at(layers: tuple[Layer, ...], pod: Mapping, path: Path, at_key: bool) -> Span | None:
    """Where the value at `path` of the merged pod was written, None if no layer has it."""
    for layer in reversed(layers):
        steps = _steps(_with_container_names(layer.value), pod, path)
        if steps is not None:
            return layer.origin.key_span(*steps) if at_key else layer.origin.span(*steps)
    return None


@cache
def _merge_keys(version: str) -> MergeKey:
    known = schemas(version)

    @cache
    def merge_key(path: tuple[str, ...]) -> tuple[str, ...] | None:
        shape = known.shape_at(POD_TYPE, path)
        return shape.keys or None if shape is not None else None

    return merge_key


def _with_container_names(layer: Mapping) -> Mapping:
    """The layer with the task's container called by its name."""
    if not any(item.get("name") != CONTAINER for item in _task_containers(layer)):
        return layer
    spec = layer["spec"]
    containers = [
        {**item, "name": CONTAINER}
        if isinstance(item, Mapping) and item.get("name") in _CONTAINER_ALIASES
        else item
        for item in spec["containers"]
    ]
    return {**layer, "spec": {**spec, "containers": containers}}


def _task_containers(layer: Mapping) -> list[Mapping]:
    spec = layer.get("spec")
    containers = spec.get("containers") if isinstance(spec, Mapping) else None
    return [
        item
        for item in (containers if isinstance(containers, list) else ())
        if isinstance(item, Mapping) and item.get("name") in (CONTAINER, *_CONTAINER_ALIASES)
    ]


def _without_nulls(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {key: _without_nulls(item) for key, item in value.items() if item is not None}
    if kind is list:
        return [_without_nulls(item) for item in value]
    return value


def _steps(layer: object, pod: object, path: Path) -> Path | None:
    """The path in a layer that leads to what is at `path` in the pod, None if it is not there.

    A key that the pod lacks as well (a missing field) stands for the map that lacks it.
    """
    steps: list[str | int] = []
    for number, step in enumerate(path):
        if isinstance(step, int):
            merged = pod[step] if isinstance(pod, list) and step < len(pod) else None
            found = _written_item(layer, merged, path[:number])
            if found is None:
                return None
            layer, pod = layer[found], merged  # type: ignore[index]
            steps.append(found)
            continue
        if not isinstance(layer, Mapping):
            return None
        if step in layer:
            layer = layer[step]
            pod = pod.get(step) if isinstance(pod, Mapping) else None
            steps.append(step)
        elif number == len(path) - 1 and isinstance(pod, Mapping) and step not in pod:
            break
        else:
            return None
    return tuple(steps)


def _written_item(items: object, merged: object, path: Path) -> int | None:
    """The last entry of a layer's list that went into an entry of the merged list."""
    if not isinstance(items, list):
        return None
    shape = schemas(None).shape_at(POD_TYPE, tuple(step for step in path if isinstance(step, str)))
    keys = shape.keys if shape is not None else ()
    for index, item in reversed(list(enumerate(items))):
        if item == merged:
            return index
        if not (keys and isinstance(item, Mapping) and isinstance(merged, Mapping)):
            continue
        if _identity(item, keys) == _identity(merged, keys):
            return index
    return None


def _identity(item: Mapping, keys: tuple[str, ...]) -> tuple:
    return tuple(item.get(key, KEY_DEFAULTS.get(key)) for key in keys)
