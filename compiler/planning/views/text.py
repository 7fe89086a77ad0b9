"""The plan as text: for a terminal in colour, for a log without."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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

_COLOURS = {"+": "32", "-": "31", "~": "33", "±": "35", "✗": "31", "!": "33", "?": "33", "@": "36"}


def text_view(plan: Plan, *, color: bool = False, details: bool = True) -> str:
    """Summary first, then each change with its reasons and, with `details`, its fields."""
    paint = _painter(color)
    lines = [f"Set {plan.set}, stack {plan.stack}", ""]
    quiet = (Action.NOOP, Action.DONE)
    for change in plan.works:
        lines.extend(_work(change, paint, details and change.action not in quiet))
    lines.append("")
    lines.extend(next_steps(plan))
    lines.append(paint("1", headline(plan)))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def objects_text(objects: Iterable[ObjectChange], *, color: bool = False) -> str:
    """Differences of two trees, object by object."""
    paint = _painter(color)
    lines = [line for item in objects for line in _object(item, paint, "")]
    return "".join(f"{line.rstrip()}\n" for line in lines)


def _work(change: WorkChange, paint, details: bool) -> Iterator[str]:
    sign = SIGNS[change.action]
    if change.action in (Action.NOOP, Action.DONE) and not change.note:
        yield f"{sign} {title(change)} ({visible(change.reason)})"
        return
    yield paint(_COLOURS.get(sign, ""), f"{sign} {title(change)}")
    for line in explanations(change):
        yield f"    {visible(line)}"
    if details:
        for item in change.objects:
            yield from _object(item, paint, "    ")


def _object(item: ObjectChange, paint, indent: str) -> Iterator[str]:
    if item.action is Action.NOOP:
        return
    sign = SIGNS[item.action]
    yield f"{indent}{paint(_COLOURS.get(sign, ''), f'{sign} {item.path}')}"
    for field in item.fields:
        for mark, text in field_lines(field):
            yield f"{indent}    {paint(_COLOURS.get(mark, ''), f'{mark} {visible(text)}')}"


def _painter(color: bool):
    def paint(code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if color and code else text

    return paint
