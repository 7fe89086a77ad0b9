"""Colours as plain ANSI codes; user text never passes through a markup language."""

from __future__ import annotations

from compiler.diagnostics.code import Severity

_codes = {
    Severity.ERROR: "1;31",
    Severity.WARNING: "1;33",
    Severity.NOTE: "1;36",
    "frame": "34",
    "strong": "1",
    "hint": "32",
}


class Style:
    """Paints text by role, or leaves it as it is."""

    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, role: str, text: str) -> str:
        return f"\x1b[{_codes[role]}m{text}\x1b[0m" if self._color and text else text
