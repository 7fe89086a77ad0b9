"""The stack's policy, asked where it matters: of each candidate, and of the finished plan."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from compiler.diagnostics import Diagnostic, Diagnostics, WrongUsage
from compiler.model import Resources, Stack, TargetSpec, Task
from compiler.placement import Row
from compiler.planning.plan import Overridden, WorkChange
from compiler.source import suggest
from compiler.workflow.prepare import Prepared
from compiler.workflow.prices import hourly_price

if TYPE_CHECKING:
    from compiler.planning.policy import WorkFacts


@dataclass(frozen=True, slots=True)
class Placed:
    """A work of a plan with the change that it makes and the row that was chosen for it;
    `num_jobs` are the jobs of an array, `alternatives` the rows of the change's."""

    change: WorkChange
    prepared: Prepared
    row: Row
    num_jobs: int = 1
    alternatives: tuple[Row, ...] = ()

    @property
    def candidates(self) -> tuple[tuple[Task, Resources], ...]:
        """Each task with what was chosen for it; none for a volume."""
        if self.prepared.work.volume is not None:
            return ()
        rows = self.row.members or (self.row,)
        tasks = (member.task for member in self.prepared.members)
        return tuple((task, row.resources) for task, row in zip(tasks, rows, strict=True))


def letting_pass(stack: Stack, names: Collection[str]) -> Stack:
    """The stack with these rules of its policy overridden.

    Raise WrongUsage for a rule that the stack does not have.
    """
    if not names:
        return stack
    from compiler.planning.policy import known_rules

    known = known_rules(stack.policy)
    for name in names:
        if name not in known:
            close = suggest(name, known)
            there = f"it has {', '.join(known)}" if known else "it has none"
            hint = f"did you mean `{close}`?" if close else there
            raise WrongUsage(f"the policy of stack `{stack.name}` has no rule `{name}`; {hint}")
    return replace(stack, let_pass=frozenset(names))


def policy_refusals(
    task: Task, resources: Resources, target: TargetSpec, stack: Stack
) -> Iterator[Diagnostic]:
    """What the policy has against a candidate, the rules that are let pass left out."""
    for item in _findings(task, resources, target, stack):
        if item.rule not in stack.let_pass:
            yield item.diagnostic


def judged(
    placed: Sequence[Placed], stack: Stack, diagnostics: Diagnostics
) -> tuple[Overridden, ...]:
    """Ask the rules about the plan as a whole; what breaks one goes to `diagnostics`.

    Returns what was let pass, of the candidates that were chosen and of the plan.
    """
    if not stack.policy:
        return ()
    from compiler.planning.policy import PlanFacts, plan_findings

    passed = []
    for item in placed:
        if item.change.action.changes and stack.let_pass:
            passed += [
                replace(found, work=item.change.work)
                for task, resources in item.candidates
                for found in _findings(task, resources, item.row.target, stack)
                if found.rule in stack.let_pass
            ]
    facts = PlanFacts(stack.set_name, tuple(_facts(item) for item in placed if item.candidates))
    for found in plan_findings(facts, stack, stack.let_pass):
        if found.rule in stack.let_pass:
            passed.append(found)
        else:
            diagnostics.add(found.diagnostic)
    diagnostics.extend(found.overridden() for found in passed)
    return tuple(
        dict.fromkeys(Overridden(item.rule, item.work, item.diagnostic.message) for item in passed)
    )


def without_forbidden(placed: Sequence[Placed], stack: Stack) -> tuple[WorkChange, ...]:
    """The changes, each with those of its alternatives that break no rule of the plan.

    Any work may end on any of its alternatives, so that each is judged beside the most that
    every other work may ask for. The candidate table says of what is left out why it is.
    """
    if not stack.policy or not any(item.alternatives for item in placed):
        return tuple(item.change for item in placed)
    from compiler.planning.policy import PlanFacts, plan_findings

    most = [_facts(item) for item in placed]

    def objections(works: Sequence[WorkFacts]) -> list[str]:
        facts = PlanFacts(stack.set_name, tuple(item for item in works if item.tasks))
        found = plan_findings(facts, stack, stack.let_pass)
        return [item.diagnostic.message for item in found if item.rule not in stack.let_pass]

    changes = []
    for at, item in enumerate(placed):
        kept, why = [], {}
        for change, row in zip(item.change.alternatives, item.alternatives, strict=True):
            facts = _facts(replace(item, change=change, row=row))
            objected = objections([*most[:at], facts, *most[at + 1 :]])
            if objected:
                why[change.target] = f"left out by the policy: {'; '.join(objected)}"
                continue
            kept.append(change)
            most[at] = most[at].or_more(facts)
        table = tuple(
            replace(entry, reason=why[entry.target]) if entry.target in why else entry
            for entry in item.change.placement
        )
        changes.append(replace(item.change, alternatives=tuple(kept), placement=table))
    return tuple(changes)


def _facts(item: Placed) -> WorkFacts:
    from compiler.planning.policy import WorkFacts
    from compiler.planning.policy.of_candidates import accelerators_of

    change, target = item.change, item.row.target
    return WorkFacts(
        name=change.work,
        target=change.target,
        kind=change.kind,
        action=str(change.action),
        tasks=tuple(_without_secrets(task) for task, _ in item.candidates),
        resources=tuple(resources for _, resources in item.candidates),
        accelerators=item.num_jobs
        * sum(accelerators_of(task, resources, target) for task, resources in item.candidates),
        cost=change.cost,
        artifacts=tuple(part.artifact for part in change.objects if part.artifact is not None),
    )


def _findings(task: Task, resources: Resources, target: TargetSpec, stack: Stack):
    if not stack.policy:
        return ()
    from compiler.planning.policy.of_candidates import Candidate, candidate_findings

    def hourly() -> float | None:
        return hourly_price(resources, target, stack, task.num_nodes)

    return candidate_findings(Candidate(task, resources, target, stack, hourly))


def _without_secrets(task: Task) -> Task:
    """Plug-ins are given no values."""
    hidden = {name: replace(item, value=None) for name, item in task.secrets.items()}
    return replace(task, secrets=hidden)
