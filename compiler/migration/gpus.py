"""Kinds of GPUs: the cluster's names, and those of the dialect."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from compiler.catalog import resolve_accelerator
from compiler.migration.request import Gpus, Request
from compiler.migration.settings import Settings


@dataclass(frozen=True, slots=True)
class Chosen:
    """The accelerator of a demand: `name` None where nobody knows, `source` who says so."""

    name: str | None
    count: int
    source: str
    hint: str = ""


@lru_cache(maxsize=512)
def accelerator(kind: str) -> str | None:
    """The dialect's name of what a cluster calls `kind`; None where it is unclear."""
    return resolve_accelerator(kind).name


@lru_cache(maxsize=512)
def spelled_alike(kind: str) -> bool:
    """Whether the Slurm target would ask for exactly this kind, given the accelerator's name."""
    name = accelerator(kind)
    return name is not None and re.sub(r"-\d+gb$", "", name.lower()) == kind


def choose(request: Request, options: dict[str, str], settings: Settings) -> Chosen | None:
    """The accelerator that a job's one demand for GPUs comes to; None without any."""
    if not request.gpus:
        return None
    demand = request.gpus[0]
    node = request.node_gpus
    count = node[1] if node else demand.count
    if demand.kind is not None:
        name = accelerator(demand.kind)
        hint = "" if name else f"`{demand.kind}` is a name of this cluster"
        return Chosen(name, count, "script", hint)
    kinds = settings.gpu_types.get(request.partition or "", ())
    if len(kinds) == 1:
        return Chosen(kinds[0], count, "stack")
    return Chosen(None, count, "nobody", _hint(demand, kinds, options))


def _hint(demand: Gpus, kinds: Iterable[str], options: dict[str, str]) -> str:
    listed = ", ".join(kinds)
    if listed:
        return f"the stack has {listed} for this partition"
    words = re.findall(r"[A-Za-z0-9_-]+", options.get("constraint", ""))
    words += [options.get("partition", "")]
    names = dict.fromkeys(name for word in words if word and (name := accelerator(word)))
    return f"its constraint or partition may mean {', '.join(names)}" if names else ""
