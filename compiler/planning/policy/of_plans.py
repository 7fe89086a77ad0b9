"""Rules about a plan as a whole: those of the stack, and plug-ins that it names."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points

from compiler.diagnostics.codes import policy as codes
from compiler.model import Stack
from compiler.planning.cost import sum_of
from compiler.planning.policy.facts import PlanFacts, Violation, WorkFacts
from compiler.planning.policy.rule import PLUGINS, Finding, finding

ENTRY_POINTS = "triplane.policy"
RULES_OF_PLANS = ("max_accelerators_per_plan", "max_hourly_cost_per_plan")
_STARTING = ("create", "update", "replace")

Plugin = Callable[[PlanFacts, Mapping[str, object]], Iterable[Violation]]


def plan_findings(facts: PlanFacts, stack: Stack, skipped: Iterable[str] = ()) -> Iterator[Finding]:
    """Every rule of plans, and every plug-in, that objects.

    Plug-ins named in `skipped` (overridden) are asked as well, and may be missing.
    """
    starting = [item for item in facts.works if item.action in _STARTING]
    limit = stack.policy.get("max_accelerators_per_plan")
    asked = sum(item.accelerators for item in starting)
    if limit is not None and asked > int(str(limit)):
        yield finding(
            codes.POLICY_ACCELERATORS_PER_PLAN,
            stack,
            "max_accelerators_per_plan",
            None,
            f"the plan starts {asked} accelerators ({_shares(starting)}), the policy allows "
            f"{limit}",
        )
    most = stack.policy.get("max_hourly_cost_per_plan")
    if most is not None:
        yield from _cost(starting, stack, float(str(most)))
    plugins = stack.policy.get(PLUGINS)
    for name, options in plugins.items() if isinstance(plugins, Mapping) else ():
        yield from _asked(str(name), options or {}, facts, stack, name in set(skipped))


def _cost(starting: list[WorkFacts], stack: Stack, most: float) -> Iterator[Finding]:
    costs = sum_of((item.name, item.cost.at_most) for item in starting if item.cost is not None)
    if costs.unknown:
        words = f"what {', '.join(costs.unknown)} costs is not known"
    elif costs.hourly > most:
        words = f"the plan starts work for {costs.hourly:.2f} $/h"
    else:
        return
    words = f"{words}, the policy allows {most:.2f} $/h"
    yield finding(codes.POLICY_COST_PER_PLAN, stack, "max_hourly_cost_per_plan", None, words)


def _shares(works: list[WorkFacts]) -> str:
    return ", ".join(f"{item.name}: {item.accelerators}" for item in works if item.accelerators)


def _asked(
    name: str, options: Mapping[str, object], facts: PlanFacts, stack: Stack, may_be_missing: bool
) -> Iterator[Finding]:
    found: list[EntryPoint] = list(entry_points(group=ENTRY_POINTS, name=name))
    if len(found) != 1:
        if not (may_be_missing and not found):
            what = f"{len(found)} installed packages offer" if found else "no installed package has"
            yield finding(
                codes.POLICY_PLUGIN_FAILED,
                stack,
                name,
                None,
                f"{what} a policy plug-in `{name}`",
                hint=f"plug-ins are entry points of the group `{ENTRY_POINTS}`",
            )
        return
    try:
        plugin: Plugin = found[0].load()
        said = list(plugin(facts, options))
        if not all(isinstance(item, Violation) for item in said):
            raise TypeError("it gave something else than Violations")
    # A plug-in is somebody else's program, and whatever stops it, its rule has not been kept.
    except Exception as error:  # noqa: BLE001
        words = f"policy plug-in `{name}` failed: {type(error).__name__}: {error}"
        yield finding(codes.POLICY_PLUGIN_FAILED, stack, name, None, words)
        return
    tasks = {item.name: item.tasks for item in facts.works}
    for item in said:
        task = dict(enumerate(tasks.get(item.work, ()))).get(item.task)
        yield finding(
            codes.POLICY_PLUGIN,
            stack,
            name,
            task.origin.span(*item.field) if task is not None else None,
            f"{name}: {item.message}",
            work=item.work,
            hint=item.hint,
        )
