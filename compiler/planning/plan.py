"""The plan: every change that an apply would make, with the exact bytes and the reasons."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from compiler.planning.because import Because
from compiler.planning.cost import Cost, Costs, is_spent, sum_of
from compiler.planning.differences import FieldChange
from compiler.planning.outcomes import Action
from compiler.planning.records import Record
from compiler.planning.states import RunState
from compiler.rendering.artifact import Artifact
from compiler.rendering.filetree import FileTree

FORMAT_VERSION = "1.1"


@dataclass(frozen=True, slots=True)
class ObjectChange:
    """One object of one target: the unit of change.

    `artifact` is what will be there (None for a deletion); `before` the digest of what is
    there now (None for nothing); `fields` the differences.
    """

    path: str
    name: str
    action: Action
    artifact: Artifact | None = None
    before: str | None = None
    fields: tuple[FieldChange, ...] = ()


@dataclass(frozen=True, slots=True)
class PlacementRow:
    """One candidate of the placement table, chosen or not, with its reason."""

    target: str
    chosen: bool
    resources: str = ""
    price: float | None = None
    free: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Overridden:
    """A rule of the stack's policy that was broken and let pass by name; `work` is empty where
    the rule is about the plan."""

    rule: str
    work: str
    message: str


@dataclass(frozen=True, slots=True)
class WorkChange:
    """What happens to one work on one target.

    `rows` are the states of the last run in which this stays right; together with
    `last_run`, `identity` and the objects' `before` digests they are the fingerprint that a
    saved plan checks. `record` is the intent that the step writes first, `fields` what the
    platform changes on a pending run, `required` the secrets that must exist on the target.
    `cost` is what it costs while it runs, None where it was not placed by this plan.
    `alternatives` are, for a new run, the changes that are tried next if this target refuses
    it or does not start it within `start_within` seconds (None: waits for ever), each with its
    own bytes and its own run number. `needs` are, of an alternative, the target's own files
    that are written first if it comes to that.
    """

    work: str
    target: str
    kind: str
    action: Action
    reason: str
    run: int
    rows: tuple[RunState | None, ...]
    note: str = ""
    state: RunState | None = None
    last_run: int | None = None
    identity: str | None = None
    because: tuple[Because, ...] = ()
    objects: tuple[ObjectChange, ...] = ()
    record: Record | None = None
    uploads: tuple[FileTree, ...] = ()
    fields: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    placement: tuple[PlacementRow, ...] = ()
    cost: Cost | None = None
    alternatives: tuple[WorkChange, ...] = ()
    start_within: int | None = None
    needs: tuple[WorkChange, ...] = ()

    @property
    def address(self) -> str:
        return f"{self.kind}/{self.target}/{self.work}"


class Skipped(enum.StrEnum):
    """Why a target was not asked: only the last is a failure."""

    FILTER = "filter"
    OFFLINE = "offline"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class TargetState:
    """Whether a target was asked; `skipped` and `reason` (for people) say why not."""

    target: str
    skipped: Skipped | None = None
    reason: str = ""

    @property
    def asked(self) -> bool:
        return self.skipped is None


@dataclass(frozen=True, slots=True)
class Plan:
    """All changes of one set.

    `scope` is `set` (deletions are planned) or `paths` (nothing is ever pruned). `inputs`
    maps each input's path to its digest: YAML, stack and file trees block an apply when they
    changed; `noted` (tool, catalogue, templates) does not. `complete` is False where a
    target was not asked; such targets get no deletions and no moves. `overridden` are the
    rules of the policy that were let pass by name.
    """

    set: str
    stack: str
    scope: str
    inputs: Mapping[str, str]
    arguments: Mapping[str, Any]
    noted: Mapping[str, str]
    works: tuple[WorkChange, ...]
    targets: tuple[TargetState, ...]
    errored: bool = False
    overridden: tuple[Overridden, ...] = ()

    @property
    def complete(self) -> bool:
        return all(target.asked for target in self.targets)

    @property
    def unreachable(self) -> tuple[TargetState, ...]:
        """Targets that were asked in vain: what exit code 3 is about."""
        return tuple(item for item in self.targets if item.skipped is Skipped.UNREACHABLE)

    @property
    def has_changes(self) -> bool:
        return any(work.action.changes for work in self.works)

    @property
    def applyable(self) -> bool:
        """Whether `apply` would accept the plan: without errors, with every target that a
        change touches asked, nothing left unasked by --offline, and not made --read-only."""
        if self.arguments.get("read_only"):
            return False
        if any(target.skipped is Skipped.OFFLINE for target in self.targets):
            return False
        silent = {target.target for target in self.targets if not target.asked}
        touched = {work.target for work in self.works if work.action.changes}
        return not self.errored and not touched & silent

    def counts(self) -> dict[str, int]:
        """How many objects each action touches, in the order of Action; zeroes left out."""
        totals = dict.fromkeys(Action, 0)
        for work in self.works:
            if work.objects and work.action.changes:
                for item in work.objects:
                    totals[item.action] += 1
            else:
                totals[work.action] += 1
        return {str(action): count for action, count in totals.items() if count}

    def cost_of_changes(self) -> Costs:
        """What the plan starts, or changes, costs while it runs."""
        return self._costs(lambda work: work.action.changes)

    def cost_of_all(self) -> Costs:
        """What everything in the plan costs that runs once it is applied."""
        return self._costs(lambda work: True)

    def _costs(self, counts: Callable[[WorkChange], bool]) -> Costs:
        return sum_of(
            (work.work, work.cost)
            for work in self.works
            if work.cost is not None and counts(work) and is_spent(work.action, work.state)
        )
