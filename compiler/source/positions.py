"""From a path in the data to the range in the text, by way of the node tree."""

from __future__ import annotations

import re
from dataclasses import dataclass

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from compiler.diagnostics import SourceText, Span
from compiler.source.merging import Merger, is_merge
from compiler.source.paths import Path

_block_header = re.compile(r"(?:[&!]\S*\s+)*[|>][^\r\n]*")


@dataclass(frozen=True, slots=True)
class Place:
    """The last value on a path that was written.

    `key` is the key node that leads to it (None for the root and for list items), `followed`
    the number of steps of the path that were there.
    """

    node: Node
    key: Node | None
    followed: int


def locate(root: Node, path: Path) -> Place:
    """Follow a path as far as it was written."""
    node, key = root, None
    for count, step in enumerate(path):
        if isinstance(node, MappingNode) and isinstance(step, str):
            pair = _pair(node, step)
            if pair is None:
                return Place(node, key, count)
            key, node = pair
        elif isinstance(node, SequenceNode) and isinstance(step, int):
            if not 0 <= step < len(node.value):
                return Place(node, key, count)
            key, node = None, node.value[step]
        else:
            return Place(node, key, count)
    return Place(node, key, len(path))


def _pair(node: MappingNode, key: str) -> tuple[Node, Node] | None:
    """The pair that counts for a key: the map's own last one, else one that is merged."""
    for pair in reversed(node.value):
        if pair[0].value == key and isinstance(pair[0], ScalarNode) and not is_merge(pair[0]):
            found: tuple[Node, Node] = pair
            return found
    if any(is_merge(other) for other, _ in node.value):
        return Merger().pairs(node).get(key)
    return None


def span_of(source: SourceText, node: Node) -> Span:
    """The tight range of a node: no trailing blank lines, block text without its `|`."""
    start = node.start_mark
    if isinstance(node, ScalarNode):
        if node.style in ("|", ">"):
            return _block_span(source, node)
        end = node.end_mark
        return Span(source, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
    last = node
    while not isinstance(last, ScalarNode) and not last.flow_style and last.value:
        above, parts = last, children(last)
        last = parts[-1]
        if any(_start(last) <= _start(other) for other in (above, *parts[:-1])):
            # An alias: its text stands elsewhere, the block ends where the parser says.
            return _until_text(source, node)
    if last is node:
        end = node.end_mark
        return Span(source, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
    tail = span_of(source, last)
    return Span(source, start.line + 1, start.column + 1, tail.end_line, tail.end_column)


def children(node: Node) -> list[Node]:
    """Keys and values, or items, in the order of the text."""
    if isinstance(node, MappingNode):
        return [part for pair in node.value for part in pair]
    return list(node.value)


def _start(node: Node) -> tuple[int, int]:
    return node.start_mark.line, node.start_mark.column


def _until_text(source: SourceText, node: Node) -> Span:
    """From the node's start to the last text before its end mark."""
    start, end = node.start_mark, node.end_mark
    number, column = end.line + 1, end.column + 1
    while number > start.line + 1 and not source.line(number)[: column - 1].strip():
        number -= 1
        column = len(source.line(number)) + 1
    return Span(source, start.line + 1, start.column + 1, number, column)


def _block_span(source: SourceText, node: Node) -> Span:
    """The lines of a literal or folded text: from its first line to its last one with text.

    Line n of a literal text is line `span.line + n - 1` of the file. Without any text it is
    the indicator itself.
    """
    header, column = _header(source, node)
    last = min(node.end_mark.line + (node.end_mark.column > 0), len(source.lines))
    while last > header and not source.line(last).strip():
        last -= 1
    if last == header:
        return Span(source, header, column, header, len(source.line(header).rstrip()) + 1)
    indents = [
        len(line) - len(line.lstrip(" ")) for line in source.lines[header:last] if line.strip()
    ]
    return Span(source, header + 1, min(indents) + 1, last, len(source.line(last)) + 1)


def _header(source: SourceText, node: Node) -> tuple[int, int]:
    """Line and column of the `|` or `>`, behind any tag and anchor."""
    number, column = node.start_mark.line + 1, node.start_mark.column + 1
    text = source.line(number)[column - 1 :]
    while not _block_header.match(text) and number < len(source.lines):
        number, column = number + 1, 1
        text = source.line(number)
    # Where no line looks like one the parser saw more than we do: then the node's own place.
    return number, column + max(text.find(str(node.style)), 0)


def value_span(source: SourceText, place: Place) -> Span:
    """The range of a value; of its key where the value is empty."""
    span = span_of(source, place.node)
    if place.key is not None and (span.line, span.column) == (span.end_line, span.end_column):
        return span_of(source, place.key)
    return span
