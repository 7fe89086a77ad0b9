"""Folding lines to the columns of a terminal: between words where possible, never losing any."""

from __future__ import annotations

from compiler.diagnostics.renderers.display import width as columns

_NARROWEST = 20


def folded(text: str, width: int | None, taken: int = 0) -> list[str]:
    """`text` in parts that fit beside `taken` columns; joined they are the text again.

    A part breaks behind its last blank, within a word only where the word alone is too long.
    Wide characters count as two columns.
    """
    if width is None:
        return [text]
    room = max(width - taken, _NARROWEST)
    if columns(text) <= room:
        return [text]
    parts: list[str] = []
    rest = text
    while columns(rest) > room:
        end = _fitting(rest, room)
        blank = rest.rfind(" ", 0, end) + 1
        cut = blank if blank > _indent(rest) and blank > room // 3 else end
        parts.append(rest[:cut])
        rest = rest[cut:]
    return [*parts, rest] if rest else parts


def _fitting(text: str, room: int) -> int:
    """How many characters fit into `room` columns, at least one."""
    used = 0
    for at, char in enumerate(text):
        used += columns(char)
        if used > room:
            return max(at, 1)
    return len(text)


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))
