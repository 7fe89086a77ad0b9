"""Diagnostics for people: what is wrong, the source with the range underlined, what to do."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from compiler.diagnostics.record import Diagnostic
from compiler.diagnostics.renderers.display import visible
from compiler.diagnostics.renderers.snippet import Line, snippet
from compiler.diagnostics.renderers.style import Style
from compiler.diagnostics.span import Span

_NARROWEST = 40


def render_text(diagnostics: Sequence[Diagnostic], *, color: bool, width: int) -> str:
    """Blocks of lines with an empty line between them."""
    style = Style(color)
    room = max(width, _NARROWEST)
    blocks = ["\n".join(_block(diagnostic, style, room)) for diagnostic in diagnostics]
    return "\n\n".join(blocks) + "\n" if blocks else ""


def heading(diagnostic: Diagnostic, style: Style) -> str:
    """`error[code]: message`, with the target where the finding is about one."""
    label = style(diagnostic.severity, f"{diagnostic.severity}[{diagnostic.code}]")
    target = f" on {visible(diagnostic.target)}" if diagnostic.target else ""
    return f"{label}{target}: {style('strong', visible(diagnostic.message))}"


def _block(diagnostic: Diagnostic, style: Style, room: int) -> Iterator[str]:
    yield heading(diagnostic, style)
    indent = _number_width(diagnostic)
    if diagnostic.span is not None:
        yield from _place(diagnostic.span, diagnostic.context, indent, style, room, diagnostic)
    for label in ("found", "expected", "hint"):
        text = getattr(diagnostic, label)
        if text:
            yield from _note(label, text, indent, style, room)
    for related in diagnostic.related:
        yield from _note("note", related.message, indent, style, room)
        if related.span is not None:
            yield from _place(related.span, None, indent, style, room)


def _number_width(diagnostic: Diagnostic) -> int:
    spans = [diagnostic.span, *(related.span for related in diagnostic.related)]
    return max((len(str(span.end_line)) for span in spans if span), default=1)


def _place(
    span: Span,
    context: Span | None,
    indent: int,
    style: Style,
    room: int,
    main: Diagnostic | None = None,
) -> Iterator[str]:
    """The location and the source lines; the range of the `main` finding is marked strongly."""
    yield f"{' ' * indent}{style('frame', '-->')} {visible(span.location)}"
    lines = snippet(span, context, room - indent - 3)
    if not any(line.text for line in lines):
        return
    bar = style("frame", "|")
    yield f"{' ' * indent} {bar}"
    for line in lines:
        if line.number is None:
            yield style("frame", "...")
            continue
        yield f"{style('frame', str(line.number).rjust(indent))} {bar} {line.text}".rstrip()
        if line.length:
            yield f"{' ' * indent} {bar} {_underline(line, style, main)}"


def _underline(line: Line, style: Style, main: Diagnostic | None) -> str:
    if main is None:
        return " " * line.start + style("frame", "-" * line.length)
    return " " * line.start + style(main.severity, "^" * line.length)


def _note(label: str, text: str, indent: int, style: Style, room: int) -> Iterator[str]:
    """`= label: text`, wrapped below itself."""
    head = f"{' ' * indent} = {label}: "
    lines = textwrap.wrap(
        visible(text),
        width=max(room - len(head), _NARROWEST // 2),
        break_long_words=False,
        break_on_hyphens=False,
    )
    painted = f"{' ' * indent} {style('frame', '=')} {style('strong', label)}: "
    role = "hint" if label == "hint" else ""
    for number, line in enumerate(lines or [""]):
        shown = style(role, line) if role else line
        yield painted + shown if number == 0 else " " * len(head) + shown
