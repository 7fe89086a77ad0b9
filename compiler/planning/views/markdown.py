"""The plan as a pull request's comment: summary, collapsed details, the next command."""

from __future__ import annotations

import html
from collections.abc import Iterator

from compiler.planning.outcomes import Action
from compiler.planning.plan import ObjectChange, Plan, WorkChange
from compiler.planning.views.wording import (
    SIGNS,
    explanations,
    field_lines,
    headline,
    next_steps,
    title,
    visible,
)

# A comment on the large forges ends at 65,536 characters.
LIMIT = 65_000
_DIFF_SIGNS = {"+": "+", "-": "-", "~": "!", "@": "@"}


def markdown_view(plan: Plan, *, plan_file: str | None = None) -> str:
    """Markdown below LIMIT characters; what had to be cut is said at its end."""
    command = f"triplane apply {plan_file}" if plan_file else "triplane apply --stack " + plan.stack
    head = [f"### triplane: {headline(plan)}", "", f"Set `{plan.set}`, stack `{plan.stack}`", ""]
    head += [f"- {html.escape(line)}" for line in next_steps(plan)]
    tail = ["", f"Next: `{command}`", ""] if plan.applyable and plan.has_changes else [""]
    room = LIMIT - sum(len(line) + 1 for line in (*head, *tail)) - 200
    body: list[str] = []
    left_out = 0
    for change in plan.works:
        section = "\n".join(_section(change))
        if len(section) + 1 > room:
            left_out += 1
            continue
        room -= len(section) + 1
        body.append(section)
    if left_out:
        body.append(
            f"\n*{left_out} of {len(plan.works)} changes are too long for a comment and "
            "left out here; they are in the saved plan.*"
        )
    return "\n".join([*head, *body, *tail])


def _section(change: WorkChange) -> Iterator[str]:
    sign = SIGNS[change.action].strip()
    summary = html.escape(f"{sign} {title(change)}".strip())
    shown = [item for item in change.objects if item.action is not Action.NOOP]
    reasons = [f"  - {_escaped(line)}" for line in explanations(change)]
    if not shown:
        yield f"- {summary}"
        yield from reasons
        return
    yield f"<details><summary>{summary}</summary>"
    yield ""
    yield from (line.removeprefix("  ") for line in reasons)
    yield ""
    content = [line for item in shown for line in _diff_lines(item)]
    fence = "`" * max(3, 1 + max((_longest_ticks(line) for line in content), default=0))
    yield f"{fence}diff"
    yield from content
    yield fence
    yield "</details>"


def _diff_lines(item: ObjectChange) -> Iterator[str]:
    yield f"{_DIFF_SIGNS.get(SIGNS[item.action], '!')} {item.path}"
    for field in item.fields:
        for mark, text in field_lines(field):
            yield f"{_DIFF_SIGNS.get(mark, ' ')}   {visible(text)}"


def _escaped(text: str) -> str:
    """User text in running markdown: no tags, no emphasis, no links."""
    escaped = html.escape(visible(text), quote=False)
    return "".join(f"\\{char}" if char in r"\`*_[]|~" else char for char in escaped)


def _longest_ticks(text: str) -> int:
    longest = run = 0
    for char in text:
        run = run + 1 if char == "`" else 0
        longest = max(longest, run)
    return longest
