"""The plan as a pull request's comment: summary, collapsed details, the next command."""

from __future__ import annotations

import html
import shlex
from collections.abc import Iterator, Sequence

from compiler.planning.outcomes import Action
from compiler.planning.plan import ObjectChange, Plan, WorkChange
from compiler.planning.views.wording import (
    SIGNS,
    explanations,
    field_lines,
    has_several_reasons,
    headline,
    next_steps,
    sums,
    title,
    visible,
)

# A comment on the large forges ends at 65,536 characters.
LIMIT = 65_000
_ROOM_FOR_CUTS = 1_500
_NAMED = 8  # of those that were cut
_LONGEST_NAME = 60
_POINTS = 30
_LONGEST_POINT = 500
_DIFF_SIGNS = {"+": "+", "-": "-", "~": "!", "@": "@"}


def markdown_view(plan: Plan, *, plan_file: str | None = None) -> str:
    """Markdown below LIMIT characters; what had to be cut is said at its end."""
    words = ("triplane", "apply", plan_file) if plan_file else _command(plan)
    head = [
        f"### triplane: {headline(plan)}",
        "",
        f"Set {_code(plan.set)}, stack {_code(plan.stack)}",
        "",
        *_points((*sums(plan), *next_steps(plan))),
    ]
    tail = [""]
    if plan.applyable and plan.has_changes:
        tail += [f"Next: {_code(shlex.join(words))}", ""]
    room = LIMIT - sum(len(line) + 1 for line in (*head, *tail)) - _ROOM_FOR_CUTS
    elsewhere = "all of it is in the saved plan" if plan_file else "`triplane plan` shows all of it"
    return "\n".join([*head, *_fitting(plan.works, room, elsewhere), *tail])


def _points(lines: Sequence[str]) -> Iterator[str]:
    """What is said of the whole plan, never so much that no change has room beside it."""
    for line in lines[:_POINTS]:
        cut = "…" if len(line) > _LONGEST_POINT else ""
        yield f"- {_escaped(line[:_LONGEST_POINT])}{cut}"
    if len(lines) > _POINTS:
        yield f"- and {_counted(len(lines) - _POINTS, 'more remark')}"


def _command(plan: Plan) -> tuple[str, ...]:
    return ("triplane", "apply", "--stack", plan.stack)


def _fitting(works: Sequence[WorkChange], room: int, elsewhere: str) -> Iterator[str]:
    """The changes in their order: each with its reasons if possible, then with its details.

    What changes something comes before what does not, where not all of it fits.
    """
    brief = [_brief(change) for change in works]
    shown: dict[int, str] = {}
    for at in sorted(range(len(works)), key=lambda at: not works[at].action.changes):
        if len(brief[at]) + 1 <= room:
            shown[at] = brief[at]
            room -= len(brief[at]) + 1
    without_details = []
    for at in sorted(shown):
        full = _full(works[at])
        if full is None:
            continue
        if len(full) - len(brief[at]) <= room:
            shown[at] = full
            room -= len(full) - len(brief[at])
        else:
            without_details.append(works[at])
    yield from (shown[at] for at in sorted(shown))
    left_out = [works[at] for at in range(len(works)) if at not in shown]
    if left_out:
        more = _counted(len(left_out), "more change")
        yield f"\n*and {more} that did not fit ({_named(left_out)}); {elsewhere}.*"
    if without_details:
        yield (
            f"\n*The differences of {_counted(len(without_details), 'change')} are too long for a "
            f"comment and left out ({_named(without_details)}); {elsewhere}.*"
        )


def _named(works: Sequence[WorkChange]) -> str:
    """The first few of them by name."""
    names = [_code(change.work[:_LONGEST_NAME]) for change in works[:_NAMED]]
    rest = len(works) - len(names)
    return ", ".join(names) + (f" and {rest} others" if rest else "")


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _brief(change: WorkChange) -> str:
    sign = SIGNS[change.action].strip()
    # In a code span, as `- + name` is a list in a list.
    lines = [f"- {f'`{sign}` ' if sign else ''}{_escaped(title(change))}"]
    lines += [f"  - {_escaped(line)}" for line in explanations(change)]
    return "\n".join(lines)


def _full(change: WorkChange) -> str | None:
    """With every object and field behind a fold; None where there is none."""
    shown = [item for item in change.objects if item.action is not Action.NOOP]
    if not shown:
        return None
    sign = SIGNS[change.action].strip()
    reasons = has_several_reasons(change)
    content = [line for item in shown for line in _diff_lines(item, reasons)]
    fence = "`" * max(3, 1 + max(_longest_ticks(line) for line in content))
    lines = [
        f"<details><summary>{html.escape(visible(f'{sign} {title(change)}'))}</summary>",
        "",
        *(f"- {_escaped(line)}" for line in explanations(change)),
        "",
        f"{fence}diff",
        *content,
        fence,
        "</details>",
    ]
    return "\n".join(lines)


def _diff_lines(item: ObjectChange, reasons: bool) -> Iterator[str]:
    yield f"{_DIFF_SIGNS.get(SIGNS[item.action], '!')} {visible(item.path)}"
    for field in item.fields:
        for mark, text in field_lines(field, reasons=reasons):
            yield f"{_DIFF_SIGNS.get(mark, ' ')}   {visible(text)}"


def _code(text: str) -> str:
    """A code span that the text cannot end."""
    text = visible(text)
    ticks = "`" * (1 + _longest_ticks(text))
    pad = " " * (text[:1] == "`" or text[-1:] == "`")
    return f"{ticks}{pad}{text}{pad}{ticks}"


def _escaped(text: str) -> str:
    """User text in running markdown: no tags, no emphasis, no links, and nobody is called."""
    escaped = html.escape(visible(text), quote=False)
    shown = "".join(f"\\{char}" if char in r"\`*_[]|~" else char for char in escaped)
    return shown.replace("@", "@<!-- -->")


def _longest_ticks(text: str) -> int:
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest
