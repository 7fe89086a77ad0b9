"""Words of a command: their text as it stands, and their value where nothing is expanded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tree_sitter import Node

_PLAIN = frozenset({"word", "number", "file_descriptor", "test_operator", "extglob_pattern"})


@dataclass(frozen=True, slots=True)
class Word:
    """`text` is the source, `literal` the value (None where the shell expands something).

    `start` and `end` are byte offsets.
    """

    text: str
    literal: str | None
    start: int
    end: int


def word_of(node: Node) -> Word:
    return Word(text_of(node), literal_of(node), node.start_byte, node.end_byte)


def text_of(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "surrogateescape")


def literal_of(node: Node) -> str | None:
    """The value of a word in which nothing is expanded; globs are not looked at."""
    kind = node.type
    if kind in _PLAIN:
        return _unescaped(text_of(node)) if not node.children else _joined(node)
    if kind == "command_name":
        return literal_of(node.children[0]) if len(node.children) == 1 else None
    if kind == "raw_string":
        return text_of(node)[1:-1]
    if kind == "string":
        parts = []
        for child in node.children:
            if child.type == "string_content":
                parts.append(_unquoted(text_of(child)))
            elif child.type != '"':
                return None
        return "".join(parts)
    if kind == "concatenation":
        return _joined(node)
    return None


def _joined(node: Node) -> str | None:
    parts = [literal_of(child) for child in node.children]
    return None if None in parts else "".join(part for part in parts if part is not None)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    out = []
    characters = iter(text)
    for character in characters:
        if character == "\\":
            character = next(characters, "")
            if character == "\n":
                continue
        out.append(character)
    return "".join(out)


def _unquoted(text: str) -> str:
    """Between double quotes a backslash is one unless one of five characters follows."""
    if "\\" not in text:
        return text
    out = []
    at = 0
    while at < len(text):
        if text[at] == "\\" and text[at + 1 : at + 2] in ("$", "`", '"', "\\", "\n"):
            at += 1
            if text[at] == "\n":
                at += 1
                continue
        out.append(text[at])
        at += 1
    return "".join(out)
