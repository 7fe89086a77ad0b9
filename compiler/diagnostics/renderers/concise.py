"""One line a diagnostic, as compilers print them and editors parse them."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics.record import Diagnostic
from compiler.diagnostics.renderers.display import visible
from compiler.diagnostics.renderers.style import Style
from compiler.diagnostics.renderers.text import heading


def render_concise(diagnostics: Sequence[Diagnostic], *, color: bool) -> str:
    """`path:line:column: error[code]: message (hint)`."""
    style = Style(color)
    lines = []
    for diagnostic in diagnostics:
        place = f"{visible(diagnostic.span.location)}: " if diagnostic.span else ""
        hint = f" ({visible(diagnostic.hint)})" if diagnostic.hint else ""
        lines.append(f"{place}{heading(diagnostic, style)}{hint}\n")
    return "".join(lines)
