"""The lines of a source text around a range, with the range underlined."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.diagnostics.renderers.display import cells, width
from compiler.diagnostics.span import SourceText, Span

_MOST_LINES = 4
_CUT = "…"


@dataclass(frozen=True, slots=True)
class Line:
    """A line to show: its number, its visible text, and the columns to underline.

    `number` is None for lines left out; `length` is 0 where nothing is underlined.
    """

    number: int | None
    text: str = ""
    start: int = 0
    length: int = 0


def snippet(span: Span, context: Span | None, room: int) -> list[Line]:
    """The lines of a range, at most `room` columns wide; long ranges and lines are cut.

    The first line of `context` stands before them if it comes earlier in the same text.
    """
    source = span.source
    lines: list[Line] = []
    if context is not None and context.source is source and context.line < span.line:
        lines.append(_line(source, context.line, 0, 0, room))
        if context.line + 1 < span.line:
            lines.append(Line(None))
    last = span.end_line
    if last > span.line and span.end_column <= 1:
        last -= 1
    numbers = list(range(span.line, last + 1))
    left_out = len(numbers) > _MOST_LINES
    if left_out:
        numbers = [*numbers[: _MOST_LINES - 2], numbers[-1]]
    for index, number in enumerate(numbers):
        if left_out and index == len(numbers) - 1:
            lines.append(Line(None))
        text = source.line(number)
        start = span.column if number == span.line else len(text) - len(text.lstrip()) + 1
        end = span.end_column if number == span.end_line else len(text.rstrip()) + 1
        lines.append(_line(source, number, start, max(end, start + 1), room))
    return lines


def _line(source: SourceText, number: int, start: int, end: int, room: int) -> Line:
    """One line with the columns from `start` up to `end` underlined (0, 0: none)."""
    text = source.line(number)
    # Of a very long line only the neighbourhood is looked at: work must not grow with it.
    first = max(start - 2 * room, 1)
    part = text[first - 1 : first + 4 * room]
    cut_right = len(text) > first - 1 + len(part)
    shown = cells(part, source.hidden_columns(number), first)
    before = sum(width(cell) for cell in shown[: max(start - first, 0)])
    length = sum(width(cell) for cell in shown[max(start - first, 0) : end - first]) if end else 0
    if end:
        length = max(length, 1)
    if first == 1 and not cut_right and sum(width(cell) for cell in shown) <= room:
        return Line(number, "".join(shown).rstrip(), before, length)
    return _window(number, shown, before, length, room, cut_left=first > 1, cut_right=cut_right)


def _window(
    number: int,
    shown: list[str],
    start: int,
    length: int,
    room: int,
    *,
    cut_left: bool,
    cut_right: bool,
) -> Line:
    """The part of a long line around the underlined columns; `shown` may be a part already."""
    left = 0
    if start + length > room - 1:
        left = max(start - room // 3, 0)
    right = left + room - 1 - (left > 0)
    text, column, first = "", 0, None
    for cell in shown:
        behind = column + width(cell)
        if left <= column and behind <= right:
            first = column if first is None else first
            text += cell
        column = behind
    cut_left = cut_left or left > 0
    cut_right = cut_right or column > right
    shift = int(cut_left) - (first or 0)
    text = (_CUT if cut_left else "") + text + (_CUT if cut_right else "")
    return Line(number, text, start + shift, min(length, max(right - start, 1)))
