"""What work costs: by the hour, and in all where it has a time limit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from compiler.model import Task
from compiler.planning.outcomes import Action
from compiler.planning.states import RunState

_HOUR = 3600


@dataclass(frozen=True, slots=True)
class Cost:
    """USD of one work while it runs.

    `hourly` is $/h over all nodes and all replicas at the least, None where the price is not
    known; `most` the same with all replicas that it may grow to, None where that is no other;
    `time_limit` in seconds, None where nothing ends it.
    """

    hourly: float | None
    most: float | None = None
    time_limit: int | None = None

    @property
    def at_most(self) -> Cost:
        """The same with all replicas that it may grow to."""
        return self if self.most is None else replace(self, hourly=self.most, most=None)

    def times(self, count: int) -> Cost:
        """What so many of it cost that may run at once."""
        if count == 1:
            return self
        hourly, most = (
            None if price is None else round(price * count, 4) for price in (self.hourly, self.most)
        )
        return replace(self, hourly=hourly, most=most)

    @property
    def total(self) -> float | None:
        """$ in all, if it runs until its time limit ends it."""
        if self.time_limit is None or self.hourly is None:
            return None
        return round(self.hourly * self.time_limit / _HOUR, 4)


@dataclass(frozen=True, slots=True)
class Costs:
    """The sums of several works; `unknown` are those without a price, by name.

    `hourly` in $/h, `total` in $ over those that have a time limit, `endless` how many of
    those that cost something have none.
    """

    hourly: float
    total: float
    endless: int = 0
    unknown: tuple[str, ...] = ()


def replicas(task: Task) -> tuple[int, int]:
    """(fewest, most) copies of the task's nodes that run at once."""
    if task.service is not None:
        policy = task.service.replica_policy
        return policy.min_replicas, max(policy.min_replicas, policy.max_replicas or 0)
    if task.pool is not None:
        return task.pool.min_workers, max(task.pool.min_workers, task.pool.max_workers)
    return 1, 1


def most_replicas(task: Task) -> int:
    return replicas(task)[1]


def cost_of(task: Task, price: float | None, time_limit: int | None = None) -> Cost:
    """The cost of a task whose nodes cost `price` $/h together; `time_limit` in seconds."""
    least, most = replicas(task)
    if price is None:
        return Cost(None, time_limit=time_limit)
    return Cost(
        hourly=round(price * least, 4),
        most=round(price * most, 4) if most != least else None,
        time_limit=time_limit,
    )


def sum_of(costs: Iterable[tuple[str, Cost]]) -> Costs:
    """The sum over (work, cost)."""
    hourly = total = 0.0
    endless, unknown = 0, []
    for work, cost in costs:
        if cost.hourly is None:
            unknown.append(work)
            continue
        hourly += cost.hourly
        if cost.total is not None:
            total += cost.total
        elif cost.hourly:
            endless += 1
    return Costs(round(hourly, 4), round(total, 4), endless, tuple(sorted(set(unknown))))


def is_spent(action: Action, state: RunState | None) -> bool:
    """Whether work costs money once the plan is applied: started, or still there."""
    if action in (Action.CREATE, Action.UPDATE, Action.REPLACE):
        return True
    stays = action in (Action.NOOP, Action.REFUSED)
    return stays and state is not None and (state.is_live or state is RunState.WRITTEN)
