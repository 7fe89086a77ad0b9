"""The words and signs that all views share."""

from __future__ import annotations

import json
from collections.abc import Iterator

from compiler.planning.because import Because
from compiler.planning.cost import Cost, Costs
from compiler.planning.differences import FieldAction, FieldChange
from compiler.planning.outcomes import Action
from compiler.planning.plan import PlacementRow, Plan, WorkChange

SIGNS = {
    Action.CREATE: "+",
    Action.UPDATE: "~",
    Action.REPLACE: "±",
    Action.DELETE: "-",
    Action.NOOP: " ",
    Action.DONE: "✓",
    Action.SHOWN: "!",
    Action.REFUSED: "✗",
    Action.UNKNOWN: "?",
}
_COUNTED = {
    "create": "to create",
    "update": "to update",
    "replace": "to replace",
    "delete": "to delete",
    "no-op": "unchanged",
    "done": "done",
    "shown": "ended without success",
    "refused": "refused",
    "unknown": "unknown",
}
_LONGEST_VALUE = 300


def headline(plan: Plan) -> str:
    """`Plan: 3 to create, 1 to delete.` or `No changes.`, with what is incomplete."""
    counts = ", ".join(f"{count} {_COUNTED[action]}" for action, count in plan.counts().items())
    if not plan.has_changes:
        return f"No changes ({counts})." if counts else "No changes."
    return f"Plan: {counts}."


def title(change: WorkChange) -> str:
    where = f" on {change.target}" if change.target else ""
    run = f" run {change.run}" if change.run and not change.work.startswith("_") else ""
    name = "project files" if change.work.startswith("_") else change.work
    return f"{name}{where}: {change.action}{run}"


def explanations(change: WorkChange) -> Iterator[str]:
    """The lines below a change's title that say why."""
    if change.reason:
        yield change.reason
    for item in change.because:
        yield because_words(item)
    if change.note:
        yield change.note
    if change.action.changes:
        yield from _placed(change)
        if change.cost is not None and change.action is not Action.DELETE:
            yield from cost_words(change.cost)
    for name in change.required:
        yield f"must exist on {change.target}: secret {name}"


def cost_words(cost: Cost) -> Iterator[str]:
    """`costs 12.00 $/h, at most 48.00 $ in its 4h`; nothing where it costs nothing."""
    if cost.hourly is None:
        yield "what it costs is not known"
    elif cost.hourly or cost.most:
        most = f" (up to {cost.most:.2f} $/h)" if cost.most is not None else ""
        total = ""
        if cost.total is not None and cost.time_limit is not None:
            total = f", at most {cost.total:.2f} $ in its {duration(cost.time_limit)}"
        yield f"costs {cost.hourly:.2f} $/h{most}{total}"


def duration(seconds: int) -> str:
    """`2d 3h`, `90s`: no more than its parts that count."""
    parts = []
    for name, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            parts.append(f"{count}{name}")
    return " ".join(parts) or "0s"


def sums(plan: Plan) -> Iterator[str]:
    """What the changes cost together, and with everything else that runs."""
    changes, everything = plan.cost_of_changes(), plan.cost_of_all()
    if plan.has_changes and _says_something(changes):
        yield f"Cost of the changes: {_sum(changes)}."
    if everything != changes and _says_something(everything):
        yield f"Cost of all that then runs: {_sum(everything)}."


def _says_something(costs: Costs) -> bool:
    return bool(costs.hourly or costs.unknown)


def _sum(costs: Costs) -> str:
    words = f"{costs.hourly:.2f} $/h"
    if costs.total:
        words += f", at most {costs.total:.2f} $ in all"
        if costs.endless:
            words += f" without the {costs.endless} that have no time limit"
    if costs.unknown:
        words += f"; not known for {', '.join(costs.unknown)}"
    return words


def _placed(change: WorkChange) -> Iterator[str]:
    """Where it goes and why, where else it could go, and who refuses it."""
    here = [row for row in change.placement if row.chosen]
    others = [row for row in change.placement if not row.chosen]
    possible = [row for row in others if not row.reason]
    for row in here:
        if others or row.price:
            yield f"placed on {_candidate(row)}: {row.reason}"
    if change.alternatives:
        yield f"moves on if it is {_given_up(change)}: {', then '.join(_following(change))}"
    elif possible:
        yield "could also go to " + ", ".join(dict.fromkeys(_candidate(row) for row in possible))
    for row in others:
        if row.reason:
            yield f"refused by {_candidate(row)}: {row.reason}"


def _given_up(change: WorkChange) -> str:
    limits = [item.start_within for item in (change, *change.alternatives[:-1])]
    known = dict.fromkeys(limit for limit in limits if limit is not None)
    if not known:
        return "refused"
    return f"refused, or has not started after {' or '.join(map(duration, known))}"


def _following(change: WorkChange) -> Iterator[str]:
    """The alternatives by their targets, with what differs where a target is there again."""
    targets = [item.target for item in (change, *change.alternatives)]
    for item in change.alternatives:
        row = item.placement[0]
        asked = f" with {row.resources}" if targets.count(item.target) > 1 and row.resources else ""
        yield f"{item.target}{asked} as run {item.run}"


def _candidate(row: PlacementRow) -> str:
    facts = [f"{row.price:.2f} $/h"] if row.price else []
    facts += [f"{row.free} free"] if row.free is not None else []
    wanted = f" {row.resources}" if row.resources else ""
    return f"{row.target}{wanted}" + (f" ({', '.join(facts)})" if facts else "")


def field_lines(change: FieldChange, *, reasons: bool = False) -> Iterator[tuple[str, str]]:
    """(sign, text) lines of one field's difference, with `reasons` also what it comes from."""
    label = change.path or "text"
    if change.lines:
        yield "~", f"{label}:"
        for line in change.lines:
            sign = line[0] if line[:1] in "+-@" else " "
            yield sign, f"  {line if sign == '@' else line[1:]}"
    elif change.action is FieldAction.ADD:
        yield "+", f"{label}: {_value(change.after)}"
    elif change.action is FieldAction.REMOVE:
        yield "-", f"{label}: {_value(change.before)}"
    else:
        yield "~", f"{label}: {_value(change.before)} -> {_value(change.after)}"
    for item in change.because if reasons else ():
        yield " ", f"  {because_words(item)}"


def has_several_reasons(change: WorkChange) -> bool:
    """Whether it is worth saying at each field which of the work's reasons is its own."""
    return len(change.because) > 1


def because_words(item: Because) -> str:
    return f"because {item.field} changed" + (f" ({item.location})" if item.location else "")


def next_steps(plan: Plan) -> Iterator[str]:
    for target in plan.targets:
        if not target.asked:
            yield f"{target.target} was not asked: {target.reason}"
    for item in plan.overridden:
        about = f" by {item.work}" if item.work else ""
        yield f"Policy overridden: {item.rule} is broken{about}: {item.message}"
    if plan.has_changes and plan.arguments.get("read_only"):
        yield "Made with --read-only: to be looked at, and planned again to be applied."
    elif plan.has_changes and not plan.applyable:
        yield "This plan cannot be applied as it is."


def visible(text: str) -> str:
    """Control characters made harmless for a terminal."""
    return "".join(
        char if char.isprintable() or char == "\t" else char.encode("unicode_escape").decode()
        for char in text
    )


def _value(value: object) -> str:
    text = value if isinstance(value, str) and value else json.dumps(value, ensure_ascii=False)
    if len(text) > _LONGEST_VALUE:
        text = f"{text[:_LONGEST_VALUE]}… ({len(text)} characters)"
    return visible(text)
