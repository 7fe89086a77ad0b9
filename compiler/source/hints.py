"""What to do about a value or field that the schema refuses."""

from __future__ import annotations

from typing import Any

from compiler.diagnostics import Span
from compiler.source.paths import Path, dotted
from compiler.source.scalars import BOOL, FLOAT, INT, SAME, plain_tag
from compiler.source.schemas import Node, is_refusal, variants
from compiler.source.suggestions import suggest
from compiler.source.wording import quoted

_LONGEST_QUOTE = 60


def unknown_field_hint(root: Node, parent: Path, known: Node, key: str) -> str | None:
    """Where an unknown field belongs, or what it is probably called.

    `known` is the sub-schema of the map at `parent`, `root` that of the whole document.
    """
    if parent and key in _fields(root):
        return f"{quoted(key)} belongs at the top level"
    for name, child in _fields(known).items():
        if key in _fields(child):
            return f"did you mean {quoted(dotted((*parent, name, key)))}?"
    near = suggest(key, _fields(known))
    return f"did you mean {quoted(near)}?" if near else None


def _fields(node: Node) -> dict[str, Node]:
    """The fields of a map that may be given, with their sub-schemas."""
    return {
        key: (name, value)
        for name, content in variants(node)
        for key, value in content.get("properties", {}).items()
        if not is_refusal(value)
    }


def type_hint(value: Any, types: set[str], span: Span) -> str | None:
    """How to turn a value into one of the types that are admitted."""
    if isinstance(value, str):
        tag = SAME.get(tag := plain_tag(value), tag)
        number = (tag == INT and types & {"integer", "number"}) or (
            tag == FLOAT and "number" in types
        )
        if number or (tag == BOOL and "boolean" in types):
            return f"write {value} without quotes"
        if "array" in types:
            return "write a list: `[...]`, or one item a line after `- `"
        return None
    if value is None:
        return "give it a value, or remove the key"
    if "string" in types and isinstance(value, bool | int | float):
        text = _text_of(span)
        return f'quote it: "{text}"' if text else "quote it"
    if isinstance(value, list) and types <= {"string", "null"}:
        return "write one text; several lines go below `|`, indented"
    return None


def _text_of(span: Span) -> str | None:
    """What stands at a span, if that is short and may be shown."""
    if span.line != span.end_line or span.source.hides(span):
        return None
    text = span.source.line(span.line)[span.column - 1 : span.end_column - 1]
    return text if 0 < len(text) <= _LONGEST_QUOTE else None
