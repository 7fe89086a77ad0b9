"""Placing tasks that belong together: all of them go to one target, each with its candidate."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from compiler.diagnostics import Diagnostic, Severity
from compiler.diagnostics.codes.catalog import MEMBER_ELSEWHERE
from compiler.model import Stack, TargetSpec, Task
from compiler.placement.table import Placement, Price, Refuse, Row, chosen_of, rank, rows_of, wanted

Members = Mapping[str, Task]
Free = Mapping[str, Mapping[str, int]]


def place_together(
    members: Members,
    stack: Stack,
    *,
    refuse: Refuse,
    refuse_whole: Callable[[TargetSpec], Iterable[Diagnostic]],
    price: Price,
    free: Free,
    recorded: str | None = None,
    at_once: bool = True,
) -> Placement:
    """One row for each target that any of the tasks allows; `members` are tasks by name.

    A target is refused with what stands against the whole, and with the reasons of each task
    that cannot go there. With `at_once` the
    tasks run at the same time and need room for all of them, else for the largest one.
    """
    rows = {name: list(rows_of(task, stack, refuse, price, free)) for name, task in members.items()}
    together = (
        _together(members, target, rows, free, at_once, tuple(refuse_whole(target)))
        for target in stack.targets.values()
        if any(row.target is target for of_one in rows.values() for row in of_one)
    )
    return chosen_of(together, recorded)


def _together(
    members: Members,
    target: TargetSpec,
    rows: Mapping[str, Sequence[Row]],
    free: Free,
    at_once: bool,
    of_whole: Iterable[Diagnostic],
) -> Row:
    best: list[Row] = []
    refusals = [item for item in of_whole if item.severity is Severity.ERROR]
    total: Counter[str] = Counter()
    for name, task in members.items():
        here = sorted((row for row in rows[name] if row.target is target), key=rank)
        refusals += _why_not(name, task, target, here)
        if not here:
            continue
        best.append(here[0])
        if here[0].resources.accelerator is not None:
            kind = here[0].resources.accelerator.name
            needed = Counter({kind: wanted(here[0].resources, task)})
            total = total + needed if at_once else total | needed
    prices = [row.price for row in best]
    available = free.get(target.key)
    fits = available is None or all(
        available.get(kind, 0) >= count for kind, count in total.items()
    )
    asked = [] if available is None else [available.get(kind, 0) for kind in total]
    return Row(
        target=target,
        resources=best[0].resources,
        preference=sum(row.preference for row in best),
        price=None if None in prices else math.fsum(price or 0.0 for price in prices),
        free=asked[0] if len(asked) == 1 else None,
        fits_now=fits,
        refusals=tuple(refusals),
        members=tuple(best),
    )


def _why_not(
    name: str, task: Task, target: TargetSpec, here: Sequence[Row]
) -> Iterator[Diagnostic]:
    """The reasons of one task, none if it has a possible candidate here."""
    if not here:
        yield MEMBER_ELSEWHERE.at(
            task.resources.candidates[0].origin_of("infra").span(),
            f"`{name}` may not go to {target.key}, and tasks that belong together go to one target",
            hint="give all of them an `infra` that has a target in common",
            target=target.key,
        )
    elif not here[0].is_possible:
        for item in dict.fromkeys(item for row in here for item in row.refusals):
            yield replace(item, message=f"`{name}`: {item.message}")
