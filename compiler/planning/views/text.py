"""The plan as text: for a terminal in colour and in its width, for a log without either."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.planning.outcomes import Action
from compiler.planning.plan import ObjectChange, Plan, WorkChange
from compiler.planning.views.folding import folded
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

_COLOURS = {"+": "32", "-": "31", "~": "33", "±": "35", "✗": "31", "!": "33", "?": "33", "@": "36"}
_STRONG = "1"
# Where so many lines follow, the summary has left the screen and is said again.
_SCREEN = 30


def text_view(
    plan: Plan, *, color: bool = False, details: bool = True, width: int | None = None
) -> str:
    """Summary first, then each change with its reasons and, with `details`, its fields.

    `width` in columns folds what is longer; without it every line stays whole, as a log or a
    search wants it.
    """
    page = _Page(color, width)
    summary = [headline(plan), *sums(plan), *next_steps(plan)]
    page.add(summary[0], code=_STRONG)
    for line in (*summary[1:], f"Set {plan.set}, stack {plan.stack}"):
        page.add(line)
    page.add("")
    quiet = (Action.NOOP, Action.DONE)
    for change in plan.works:
        _work(page, change, details and change.action not in quiet)
    if len(page.lines) > _SCREEN + len(summary):
        page.add("")
        page.add(summary[0], code=_STRONG)
        for line in summary[1:]:
            page.add(line)
    return page.text()


def objects_text(
    objects: Iterable[ObjectChange], *, color: bool = False, width: int | None = None
) -> str:
    """Differences of two trees, object by object."""
    page = _Page(color, width)
    for item in objects:
        _object(page, item, 0)
    return page.text()


class _Page:
    """Lines on their way out: folded first, then painted, so that colour takes no columns."""

    def __init__(self, color: bool, width: int | None) -> None:
        self.color = color
        self.width = width
        self.lines: list[str] = []

    def add(self, text: str, *, indent: int = 0, mark: str = "", code: str = "") -> None:
        """One line of user text behind `indent` blanks and a sign, made harmless."""
        head = " " * indent + (f"{mark} " if mark else "")
        for at, part in enumerate(folded(visible(text), self.width, len(head))):
            start = head if at == 0 else " " * len(head)
            blanks, body = start[:indent], f"{start[indent:]}{part}".rstrip()
            painted = f"\x1b[{code}m{body}\x1b[0m" if self.color and code and body else body
            self.lines.append(f"{blanks}{painted}".rstrip())

    def text(self) -> str:
        return "".join(f"{line}\n" for line in self.lines)


def _work(page: _Page, change: WorkChange, details: bool) -> None:
    sign = SIGNS[change.action]
    if change.action in (Action.NOOP, Action.DONE) and not change.note:
        page.add(f"{title(change)} ({change.reason})", mark=sign)
        return
    page.add(title(change), mark=sign, code=_COLOURS.get(sign, ""))
    for line in explanations(change):
        page.add(line, indent=4)
    if details:
        for item in change.objects:
            _object(page, item, 4, reasons=has_several_reasons(change))


def _object(page: _Page, item: ObjectChange, indent: int, *, reasons: bool = False) -> None:
    if item.action is Action.NOOP:
        return
    sign = SIGNS[item.action]
    page.add(item.path, indent=indent, mark=sign, code=_COLOURS.get(sign, ""))
    for field in item.fields:
        for mark, text in field_lines(field, reasons=reasons):
            page.add(text, indent=indent + 4, mark=mark, code=_COLOURS.get(mark, ""))
