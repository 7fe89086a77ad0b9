"""User text on a screen: columns, tabs, and characters that must not act on the terminal."""

from __future__ import annotations

import unicodedata

_TAB_STOP = 4
_MASK = "***"
# Characters that reorder or hide the text around them.
_deceptive = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")


def visible(text: str) -> str:
    """The text with control and reordering characters written as escapes (`\\x1b`)."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_shown(char) for char in text)


def width(text: str) -> int:
    """Columns that a visible text takes on a screen."""
    if text.isascii():
        return len(text)
    return sum(_columns(char) for char in text)


def cells(part: str, hidden: list[tuple[int, int]], first: int = 1) -> list[str]:
    """For each character what is shown for it: tabs as blanks, hidden ranges as ***.

    `part` is a line, or the part of one that starts in column `first` (counting from 1);
    `hidden` are pairs of first column and the one behind the last.
    """
    shown: list[str] = []
    column = 0
    hidden = [(max(start, first), end) for start, end in hidden if end > first]
    for number, char in enumerate(part, start=first):
        masked = next((start for start, end in hidden if start <= number < end), None)
        if masked is not None:
            cell = _MASK if number == masked else ""
        elif char == "\t":
            cell = " " * (_TAB_STOP - column % _TAB_STOP)
        else:
            cell = _shown(char)
        shown.append(cell)
        column += width(cell)
    return shown


def _shown(char: str) -> str:
    category = unicodedata.category(char)
    if category not in ("Cc", "Cs", "Zl", "Zp") and char not in _deceptive:
        return char
    if char in "\n\r\t":
        return {"\n": "\\n", "\r": "\\r", "\t": "\\t"}[char]
    code = ord(char)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def _columns(char: str) -> int:
    if unicodedata.east_asian_width(char) in ("W", "F"):
        return 2
    return 0 if unicodedata.category(char) in ("Mn", "Me", "Cf") else 1
