"""The candidate table: every (target, resources) pair, in the order in which to try them.

What the YAML orders comes first, then what is free now, then the price, then the stack's
order. Capacity, prices and refusals come in as data or plain functions: this module asks no
platform.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from compiler.diagnostics import Diagnostic, Severity
from compiler.diagnostics.codes.catalog import COST_ABOVE_LIMIT
from compiler.model import Choice, Resources, Stack, TargetSpec, Task
from compiler.placement.infra import matching_targets

Refuse = Callable[[Task, Resources, TargetSpec], Iterable[Diagnostic]]
Price = Callable[[Resources, TargetSpec, int], float | None]
"""$/h of a candidate on a target for a number of nodes."""


@dataclass(frozen=True, slots=True)
class Row:
    """One candidate. `price` in $/h for all nodes, None where unknown; `free` the free
    accelerators of the kind asked for, None where nobody was asked.

    Of work with several tasks `members` are the rows of the tasks on this target, in order;
    `resources` are the first one's, and `price` is the sum."""

    target: TargetSpec
    resources: Resources
    preference: int
    price: float | None
    free: int | None
    fits_now: bool
    refusals: tuple[Diagnostic, ...] = ()
    members: tuple[Row, ...] = ()

    @property
    def is_possible(self) -> bool:
        return not self.refusals


@dataclass(frozen=True, slots=True)
class Placement:
    """All rows, best first, refused ones last; `chosen` is None if all are refused."""

    rows: tuple[Row, ...]
    chosen: Row | None
    reason: str


def place(
    task: Task,
    stack: Stack,
    *,
    refuse: Refuse,
    price: Price,
    free: Mapping[str, Mapping[str, int]],
    recorded: str | None = None,
) -> Placement:
    """Order the candidates and choose. `recorded` is the target of the work's last run: it
    holds as long as the task allows it. `free[target key][accelerator]` as far as asked."""
    return chosen_of(rows_of(task, stack, refuse, price, free), recorded)


def chosen_of(rows: Iterable[Row], recorded: str | None) -> Placement:
    """The rows in their order, and the choice among them."""
    ordered = sorted(rows, key=rank)
    possible = [row for row in ordered if row.is_possible]
    for row in possible:
        if recorded == row.target.key:
            return Placement(tuple(ordered), row, "placed there before; move with --move")
    if not possible:
        return Placement(tuple(ordered), None, "no target can take it")
    return Placement(tuple(ordered), possible[0], _reason(possible))


def rank(row: Row) -> tuple[bool, int, bool, float]:
    """What rows are sorted by; the stack's order remains between equals."""
    price = math.inf if row.price is None else row.price
    return (not row.is_possible, row.preference, not row.fits_now, price)


def rows_of(
    task: Task,
    stack: Stack,
    refuse: Refuse,
    price: Price,
    free: Mapping[str, Mapping[str, int]],
) -> Iterable[Row]:
    """Every candidate of the task on every target that its `infra` allows."""
    ordered = task.resources.choice is Choice.ORDERED
    for index, resources in enumerate(task.resources.candidates):
        for target in matching_targets(resources.infra, stack):
            available = _available(resources, target, free)
            usd = price(resources, target, task.num_nodes)
            refusals = [
                item for item in refuse(task, resources, target) if item.severity is Severity.ERROR
            ]
            refusals += _too_dear(resources, target, usd, task.num_nodes)
            yield Row(
                target=target,
                resources=resources,
                preference=index if ordered else 0,
                price=usd,
                free=available,
                fits_now=available is None or available >= wanted(resources, task),
                refusals=tuple(refusals),
            )


def _too_dear(
    resources: Resources, target: TargetSpec, usd: float | None, num_nodes: int
) -> Iterable[Diagnostic]:
    """`max_hourly_cost` is the limit of one node, wherever the price comes from."""
    limit = resources.max_hourly_cost
    if limit is None or usd is None or usd / num_nodes <= limit:
        return
    yield COST_ABOVE_LIMIT.at(
        resources.origin_of("max_hourly_cost").span(),
        f"a node costs {usd / num_nodes:g} USD an hour on {target.key}, the limit is {limit:g}",
        target=target.key,
    )


def _available(resources: Resources, target: TargetSpec, free) -> int | None:
    if resources.accelerator is None or target.key not in free:
        return None
    return free[target.key].get(resources.accelerator.name, 0)


def wanted(resources: Resources, task: Task) -> int:
    """How many accelerators all nodes of the task take."""
    return math.ceil(resources.accelerator.count) * task.num_nodes if resources.accelerator else 0


def _reason(possible: list[Row]) -> str:
    best, others = possible[0], possible[1:]
    if not others:
        return "the only target that the task allows"
    second = others[0]
    if best.preference != second.preference:
        return "first in the order that the task gives"
    if best.fits_now != second.fits_now:
        return f"has room now, {second.target.key} has not"
    if best.price is not None and best.price != second.price:
        return f"cheapest at {best.price:.2f} $/h" if best.price else "costs nothing extra there"
    return "first in the stack's order"
