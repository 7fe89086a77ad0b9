"""Diagnostics as text for people and as the formats that machines read."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.diagnostics.collector import Diagnostics
from compiler.diagnostics.record import Diagnostic

FORMATS = ("text", "concise", "json", "sarif", "github")


def render(
    diagnostics: Iterable[Diagnostic],
    format: str = "text",
    *,
    color: bool = False,
    width: int = 100,
) -> str:
    """The diagnostics in one of `FORMATS`, ending in a newline unless there is nothing to say.

    `text` shows the source with the range underlined, `concise` a line each, `json` a versioned
    shape, `sarif` SARIF 2.1.0, `github` workflow commands. `color` and `width` (columns of the
    screen) matter to the first two. A `Diagnostics` collection is sorted, anything else stays
    in its order. Raises ValueError for an unknown format.
    """
    items = diagnostics.sorted() if isinstance(diagnostics, Diagnostics) else list(diagnostics)
    if format == "text":
        from compiler.diagnostics.renderers.text import render_text

        return render_text(items, color=color, width=width)
    if format == "concise":
        from compiler.diagnostics.renderers.concise import render_concise

        return render_concise(items, color=color)
    if format == "json":
        from compiler.diagnostics.renderers.json_format import render_json

        return render_json(items)
    if format == "sarif":
        from compiler.diagnostics.renderers.sarif import render_sarif

        return render_sarif(items)
    if format == "github":
        from compiler.diagnostics.renderers.github import render_github

        return render_github(items)
    raise ValueError(f"unknown format {format!r}; there are {', '.join(FORMATS)}")
