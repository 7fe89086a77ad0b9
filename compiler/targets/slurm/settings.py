"""Configuration of one job on one cluster: whose value holds, and where it was written.

Scopes, weakest first: all clusters, the cluster, the partition, the workspace (in the same
three steps), the task. `cluster_configs` replace global values, `gpu_partition_map` and
`sbatch_options` are merged key by key.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from compiler.diagnostics import Span
from compiler.model import Origin, Stack, TargetKind
from compiler.model.config import scoped
from compiler.targets.interface import Job

_DEFAULT_WORKSPACE = "default"
NO_MAP: Mapping[str, object] = {}


@dataclass(frozen=True, slots=True)
class Layer:
    """A map of one scope; `where` is its dotted path, for people."""

    values: Mapping[str, object]
    origin: Origin

    @property
    def where(self) -> str:
        return self.origin.dotted

    def span(self, key: str) -> Span:
        return self.origin.span(key)


@dataclass(frozen=True, slots=True)
class Setting:
    """A value and where it was written; `where` is the dotted path."""

    value: object
    where: str
    span: Span


class Settings:
    """The `slurm` configuration that applies to a job."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._cluster = job.target.key
        self._task = _step(Layer(job.task.config, job.task.origin.child("config")), "slurm")
        active = job.task.config.get("active_workspace") or job.stack.workspace
        self.workspace = str(active or _DEFAULT_WORKSPACE)

    def value(self, key: str) -> Any:
        """The value of `slurm.<key>` that holds here, None if there is none."""
        stack, cluster, workspace = self._job.stack, self._cluster, self.workspace
        if key not in self._task.values:
            return _of_stack(stack, cluster, workspace, key)
        config = self._job.task.config
        return scoped(stack.config, TargetKind.SLURM, cluster, workspace, config, key)

    def workspace_value(self, key: str) -> Setting | None:
        """`account`, `qos` or `partition` from the stack's own `workspaces`."""
        stack, name = self._job.stack, self.workspace
        by_target = stack.workspaces.get(name, {})
        for target in (self._cluster, ""):
            value = by_target.get(target, NO_MAP).get(key)
            if value is not None:
                steps = ("workspaces", name, *([target] if target else []), key)
                origin = stack.origin.child(*steps)
                return Setting(value, origin.dotted, origin.span())
        return None

    def quota(self, key: str, own_key: str, partition: str | None) -> Setting | None:
        """`queue` or `account` of the narrowest scope that has it.

        `own_key` is its name in the stack's own `workspaces`, which stand between SkyPilot's
        workspaces and what holds without one.
        """

        def first(layers: Iterable[Layer]) -> Setting | None:
            quotas = (_step(layer, "quota") for layer in layers if "quota" in layer.values)
            return next(filter(None, (_setting(quota, key) for quota in quotas)), None)

        in_general, of_workspace = self._layers(partition)
        return (
            first([self._task])
            or first(reversed(of_workspace))
            or self.workspace_value(own_key)
            or first(reversed(in_general))
        )

    def sbatch_options(self, partition: str | None) -> Iterator[Layer]:
        """Every scope's map, weakest first."""
        in_general, of_workspace = self._layers(partition)
        for layer in (*in_general, *of_workspace, self._task):
            if layer.values.get("sbatch_options"):
                yield _step(layer, "sbatch_options")

    def _layers(self, partition: str | None) -> tuple[tuple[Layer, ...], tuple[Layer, ...]]:
        return _layers(self._job.stack, self._cluster, self.workspace, partition)


@lru_cache(maxsize=256)
def _of_stack(stack: Stack, cluster: str, workspace: str, key: str) -> Any:
    """What holds for every task that says nothing itself: the same for thousands of them."""
    return scoped(stack.config, TargetKind.SLURM, cluster, workspace, {}, key)


@lru_cache(maxsize=64)
def _layers(
    stack: Stack, cluster: str, workspace: str, partition: str | None
) -> tuple[tuple[Layer, ...], tuple[Layer, ...]]:
    """The stack's sections in general and of the workspace, each from weak to strong.

    Those that say nothing are left out.
    """
    config = Layer(_map(stack.config), stack.origin.child("config"))
    general = _step(config, "slurm")
    own = _step(_step(_step(config, "workspaces"), workspace), "slurm")
    narrowed = (_narrowed(section, cluster, partition) for section in (general, own))
    in_general, of_workspace = (tuple(filter(_says_something, layers)) for layers in narrowed)
    return in_general, of_workspace


def _says_something(layer: Layer) -> bool:
    return bool(layer.values)


def _narrowed(general: Layer, cluster: str, partition: str | None) -> Iterator[Layer]:
    """A section and what it has for the cluster and its partition."""
    yield general
    of_cluster = _step(_step(general, "cluster_configs"), cluster)
    yield of_cluster
    if partition is not None:
        yield _step(_step(of_cluster, "partition_configs"), partition)


def _step(layer: Layer, key: str) -> Layer:
    return Layer(_map(layer.values.get(key)), layer.origin.child(key))


def _setting(layer: Layer, key: str) -> Setting | None:
    value = layer.values.get(key)
    if value is None:
        return None
    origin = layer.origin.child(key)
    return Setting(value, origin.dotted, origin.span())


def _map(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else NO_MAP
