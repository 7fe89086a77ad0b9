"""Configuration of one job on one cluster: whose value holds, and where it was written.

Scopes, weakest first: all clusters, the cluster, the partition, the workspace (in the same
three steps), the task. `cluster_configs` replace global values, `gpu_partition_map` and
`sbatch_options` are merged key by key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compiler.diagnostics import Span
from compiler.model import Origin
from compiler.targets.interface import Job

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
        stack = job.stack
        config, origin = _map(stack.config), stack.origin.child("config")
        self._general = _step(Layer(config, origin), "slurm")
        self._task = _step(Layer(job.task.config, job.task.origin.child("config")), "slurm")
        self.workspace = _text(
            job.task.config.get("active_workspace")
            or stack.workspace
            or config.get("active_workspace")
        )
        workspaces = _step(Layer(config, origin), "workspaces")
        self._workspace = _step(_step(workspaces, self.workspace or ""), "slurm")

    def one(self, key: str) -> Setting | None:
        """The value of `key`, of the cluster rather than of all clusters; the task's first."""
        layers = (self._task, self._of_cluster(self._general), self._general)
        return next(filter(None, (_setting(layer, key) for layer in layers)), None)

    def partition_map(self) -> Mapping[str, object]:
        """Accelerator name to a partition or a list of them."""
        layers = (self._general, self._of_cluster(self._general))
        found: dict[str, object] = {}
        for layer in layers:
            found.update(_map(layer.values.get("gpu_partition_map")))
        return found

    def workspace_value(self, key: str) -> Setting | None:
        """`account`, `qos` or `partition` from the stack's own `workspaces`."""
        stack, name = self._job.stack, self.workspace
        if name is None:
            return None
        by_target = stack.workspaces.get(name, {})
        for target in (self._cluster, ""):
            value = by_target.get(target, NO_MAP).get(key)
            if value is not None:
                steps = ("workspaces", name, *([target] if target else []), key)
                origin = stack.origin.child(*steps)
                return Setting(value, origin.dotted, origin.span())
        return None

    def quota(self, key: str, partition: str | None) -> Setting | None:
        """`queue` or `account`: the narrowest scope that has it."""
        layers = [_step(layer, "quota") for layer in self._scopes(partition)]
        return next(filter(None, (_setting(layer, key) for layer in reversed(layers))), None)

    def sbatch_options(self, partition: str | None) -> Iterator[Layer]:
        """Every scope's map, weakest first."""
        for layer in self._scopes(partition):
            options = _step(layer, "sbatch_options")
            if options.values:
                yield options

    def _scopes(self, partition: str | None) -> Iterator[Layer]:
        for general in (self._general, self._workspace):
            cluster = self._of_cluster(general)
            yield general
            yield cluster
            if partition is not None:
                yield _step(_step(cluster, "partition_configs"), partition)
        yield self._task

    def _of_cluster(self, general: Layer) -> Layer:
        return _step(_step(general, "cluster_configs"), self._cluster)


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


def _text(value: object) -> str | None:
    return str(value) if value else None
