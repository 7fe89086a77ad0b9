"""What a candidate costs per hour, from the stack's pricing or the catalogue."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from compiler.model import Resources, Stack, TargetKind, TargetSpec
from compiler.placement import Row
from compiler.planning.cost import cost_of
from compiler.planning.plan import WorkChange
from compiler.planning.time_limits import time_limit
from compiler.rendering.artifact import Artifact
from compiler.workflow.prepare import Prepared


def hourly_price(
    resources: Resources, target: TargetSpec, stack: Stack, num_nodes: int
) -> float | None:
    """$/h for all nodes; 0 where hardware is owned and the stack prices nothing, None if unknown.

    The stack's `pricing` gives $/h per accelerator, and per `cpu` and `memory` (GiB).
    """
    pricing = stack.pricing.get(target.key)
    if pricing is not None:
        per_node = 0.0
        if resources.accelerator is not None:
            per_node += math.ceil(resources.accelerator.count) * pricing.get(
                resources.accelerator.name, 0.0
            )
        if resources.cpus is not None:
            per_node += resources.cpus.value * pricing.get("cpu", 0.0)
        if resources.memory is not None and not resources.memory.per_cpu:
            per_node += resources.memory.value * pricing.get("memory", 0.0)
        return per_node * num_nodes
    if target.kind is not TargetKind.AWS:
        return 0.0
    from compiler.catalog import Choice, choose_instance

    region = str(target.options.get("region") or target.key)
    choice = choose_instance(resources, region)
    if not isinstance(choice, Choice) or choice.price is None:
        return None
    return choice.price * num_nodes


def priced(
    change: WorkChange, prepared: Prepared, row: Row, artifacts: Iterable[Artifact]
) -> WorkChange:
    """The change with what its work costs where it is placed; volumes have no price here."""
    if prepared.work.volume is not None:
        return change
    limit = time_limit(artifacts, in_turn=prepared.work.pipeline is not None)
    return replace(change, cost=cost_of(prepared.task, row.price, limit))
