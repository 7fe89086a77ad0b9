"""What a policy plug-in is given, and what it gives back: a public, stable interface."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from compiler.model import Resources, Task
from compiler.planning.cost import Cost
from compiler.rendering.artifact import Artifact


@dataclass(frozen=True, slots=True)
class WorkFacts:
    """One work of a plan that a plug-in judges.

    `action` is the plan's (create, update, no-op, ...); `tasks` are its tasks in order (one,
    unless it is a group or a pipeline), `resources` the candidate that was chosen for each;
    `accelerators` the devices on all nodes and replicas; `artifacts` what the plan
    would write or apply, empty where nothing changes. Values of secrets are in none of it.
    """

    name: str
    target: str
    kind: str
    action: str
    tasks: tuple[Task, ...]
    resources: tuple[Resources, ...]
    accelerators: int
    cost: Cost | None
    artifacts: tuple[Artifact, ...] = ()

    def or_more(self, other: WorkFacts) -> WorkFacts:
        """The same work where it asks for more: as here or as on the other's target."""
        costs = [item.cost.at_most for item in (self, other) if item.cost is not None]
        dearest = max(
            costs, key=lambda cost: math.inf if cost.hourly is None else cost.hourly, default=None
        )
        accelerators = max(self.accelerators, other.accelerators)
        return replace(self, accelerators=accelerators, cost=dearest)


@dataclass(frozen=True, slots=True)
class PlanFacts:
    """A plan as plug-ins see it: the set, and every work that is wanted."""

    set: str
    works: tuple[WorkFacts, ...]


@dataclass(frozen=True, slots=True)
class Violation:
    """One objection: `message` starts in lower case and is for people.

    `work` is the name of the work it is about, empty for the plan; `task` the number of its
    task, and `field` the path of the key that is at fault, as in `("resources", "cpus")`.
    """

    message: str
    work: str = ""
    task: int = 0
    field: tuple[str | int, ...] = ()
    hint: str | None = None


Options = Mapping[str, object]
