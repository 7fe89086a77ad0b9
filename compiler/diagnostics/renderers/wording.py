"""A diagnostic as one plain text, for formats that have a single field for it."""

from __future__ import annotations

from compiler.diagnostics.record import Diagnostic
from compiler.diagnostics.renderers.display import visible


def details(diagnostic: Diagnostic) -> str:
    """The message, then found, expected and hint, a line each."""
    head = f"{visible(diagnostic.target)}: " if diagnostic.target else ""
    lines = [head + visible(diagnostic.message)]
    for label in ("found", "expected", "hint"):
        text = getattr(diagnostic, label)
        if text:
            lines.append(f"{label}: {visible(text)}")
    return "\n".join(lines)
