"""What a job asks for, in numbers: the part of its options that another place must match."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from compiler.migration.reading.amounts import mebibytes, minutes, node_range
from compiler.migration.reading.kinds import UNSET

_GRES = re.compile(r"(?:gres[:/])?(?P<name>[^:,/=]+)(?:[:=](?P<rest>.*))?")
_GPU_NAMES = ("gpu", "gpus")
_PER = {
    "gpus": "job",
    "gpus-per-node": "node",
    "gpus-per-socket": "socket",
    "gpus-per-task": "task",
}


@dataclass(frozen=True, slots=True)
class Gpus:
    """A demand for GPUs: `kind` None where only a number is asked for; `per` what it counts for.

    `option` is the option that asks (`gres`, `gpus-per-node`, ...).
    """

    kind: str | None
    count: int
    per: str
    option: str


@dataclass(frozen=True, slots=True)
class Request:
    """A component's demands.

    `nodes` as (least, most), None where Slurm chooses; memory in MiB of a `node`, a `cpu` or a
    `gpu` (0: all of the node's); `minutes` None without a limit of its own. `other_gres` are
    resources that are no GPUs, as written.
    """

    nodes: tuple[int, int] | None = None
    tasks: int | None = None
    tasks_per_node: int | None = None
    cpus_per_task: int | None = None
    memory_mib: int | None = None
    memory_per: str = "node"
    gpus: tuple[Gpus, ...] = ()
    other_gres: tuple[str, ...] = ()
    minutes: int | None = None
    partition: str | None = None
    exclusive: bool = False

    @property
    def node_count(self) -> int | None:
        """The number of nodes where it is certain."""
        if self.nodes is not None:
            least, most = self.nodes
            return least if least == most and least > 0 else None
        tasks = self.tasks or 1
        if tasks == 1:
            return 1
        return math.ceil(tasks / self.tasks_per_node) if self.tasks_per_node else None

    @property
    def task_count(self) -> int | None:
        """How many tasks a bare `srun` would start, where it is certain."""
        if self.tasks is not None:
            return self.tasks
        nodes = self.node_count
        if nodes is None:
            return None
        return nodes * (self.tasks_per_node or 1)

    @property
    def node_tasks(self) -> int | None:
        """Tasks on each node, where they are the same on all and certain."""
        nodes, tasks = self.node_count, self.task_count
        if nodes is None or tasks is None or tasks % nodes:
            return None
        return tasks // nodes

    @property
    def node_cpus(self) -> int | None:
        """CPUs that a node's tasks need together; None where Slurm's default holds."""
        if self.cpus_per_task is None and (self.node_tasks or 1) == 1:
            return None
        return (self.cpus_per_task or 1) * self.node_tasks if self.node_tasks else None

    @property
    def node_gpus(self) -> tuple[str | None, int] | None:
        """(kind, number) on each node; None where there are none or it is uncertain."""
        if len(self.gpus) != 1:
            return None
        demand = self.gpus[0]
        nodes, tasks = self.node_count, self.node_tasks
        if demand.per == "node":
            return demand.kind, demand.count
        if demand.per == "job" and nodes and demand.count % nodes == 0:
            return demand.kind, demand.count // nodes
        if demand.per == "task" and tasks:
            return demand.kind, demand.count * tasks
        return None

    @property
    def node_memory(self) -> int | None:
        """MiB of a node; None where nothing is asked for, or it is uncertain. 0: all of it."""
        if self.memory_mib is None or self.memory_per == "node":
            return self.memory_mib
        if self.memory_per == "cpu":
            tasks = self.node_tasks
            cpus = (self.cpus_per_task or 1) * tasks if tasks else None
            return self.memory_mib * cpus if cpus else None
        gpus = self.node_gpus
        return self.memory_mib * gpus[1] if gpus else None


def request_of(settings: Mapping[str, str]) -> Request:
    """The request in a component's settings, which sbatch has accepted."""
    memory = next(
        (name for name in ("mem", "mem-per-cpu", "mem-per-gpu") if name in settings), None
    )
    limit = settings.get("time")
    gpus, others = _devices(settings)
    return Request(
        nodes=node_range(settings["nodes"]) if "nodes" in settings else None,
        tasks=_number(settings, "ntasks"),
        tasks_per_node=_number(settings, "ntasks-per-node"),
        cpus_per_task=_number(settings, "cpus-per-task"),
        memory_mib=_memory(settings[memory]) if memory else None,
        memory_per=(memory or "mem").rpartition("-")[2] if memory != "mem" and memory else "node",
        gpus=gpus,
        other_gres=others,
        minutes=None if limit is None else minutes(limit, "time"),
        partition=settings.get("partition"),
        exclusive=settings.get("exclusive") == "exclusive",
    )


def _number(settings: Mapping[str, str], name: str) -> int | None:
    value = settings.get(name, UNSET)
    return int(value) if value.isdigit() else None


def _memory(text: str) -> int:
    """From sbatch's own form, in which 0 is `0?`."""
    if text.endswith("P"):
        return int(text[:-1]) << 30
    return mebibytes(text.removesuffix("?"), "mem")


def _devices(settings: Mapping[str, str]) -> tuple[tuple[Gpus, ...], tuple[str, ...]]:
    gpus: list[Gpus] = []
    others: list[str] = []
    for item in filter(None, settings.get("gres", "").split(",")):
        match = _GRES.fullmatch(item)
        if match is None or match["name"] not in _GPU_NAMES:
            if item.lower() != "none":
                others.append(item)
            continue
        found = gpu_text(match["rest"] or "1")
        if found is None:
            others.append(item)
        elif found[1]:
            gpus.append(Gpus(*found, "node", "gres"))
    for option, per in _PER.items():
        for item in filter(None, settings.get(option, "").split(",")):
            found = gpu_text(item)
            if found is None:
                others.append(f"{option}={item}")
            elif found[1]:
                gpus.append(Gpus(*found, per, option))
    return tuple(gpus), tuple(others)


def gpu_text(text: str) -> tuple[str | None, int] | None:
    """(kind, count) of `4`, `a100`, `a100:4`; None for what is neither."""
    text = text.partition("(")[0]  # gpu:2(S:0)
    if text.isdigit():
        return None, int(text)
    kind, colon, count = text.rpartition(":")
    if not colon:
        return (text, 1) if text else None
    return (kind, int(count)) if count.isdigit() and kind else None
