"""Merge keys (`<<`): the pairs of a map, merged as the YAML 1.1 type says.

Of several maps in a list the first one wins, as with PyYAML up to 6.0.3. Version 6.0.4 lets the
last one win unless names have a single letter (yaml/pyyaml#953), so its merging is not used.
"""

from __future__ import annotations

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from compiler.source.limits import MAX_DEPTH, MAX_DOCUMENT_VALUES
from compiler.source.nodes import LimitExceeded
from compiler.source.scalars import MERGE

Pairs = dict[str, tuple[Node, Node]]
"""Key node and value node by the text of the key."""


def is_merge(key: Node) -> bool:
    return isinstance(key, ScalarNode) and key.tag == MERGE


def merge_sources(value: Node) -> list[Node]:
    """The nodes that a merge key names; the first of several wins."""
    return value.value if isinstance(value, SequenceNode) else [value]


class Merger:
    """The pairs of maps with their merges resolved; one for a document, it remembers.

    Merges of anything but maps, merges of a map into itself, and keys that are no scalars are
    left out: reading reports them. Raises LimitExceeded for merges that multiply.
    """

    def __init__(self) -> None:
        self._known: dict[int, tuple[Pairs, int]] = {}
        self._work = 0

    def pairs(self, node: MappingNode) -> Pairs:
        """Merged pairs first, then own ones; of equal keys the later one counts."""
        return self._resolve(node)[0]

    def _resolve(self, node: MappingNode) -> tuple[Pairs, int]:
        """The pairs, and how many maps the longest chain of merges leads through."""
        known = self._known.get(id(node))
        if known is not None:
            return known
        self._known[id(node)] = ({}, 0)  # what a map sees that merges itself
        merged: Pairs = {}
        own: Pairs = {}
        depth = 0
        for key, value in node.value:
            if is_merge(key):
                for source in reversed(merge_sources(value)):
                    if isinstance(source, MappingNode):
                        pairs, below = self._resolve(source)
                        depth = max(depth, below + 1)
                        self._count(source, len(pairs), depth)
                        merged.update(pairs)
            elif isinstance(key, ScalarNode):
                own[key.value] = (key, value)
        self._count(node, len(own), depth)
        self._known[id(node)] = (merged | own, depth)
        return self._known[id(node)]

    def _count(self, node: Node, pairs: int, depth: int) -> None:
        self._work += pairs + 1
        if self._work > MAX_DOCUMENT_VALUES:
            raise LimitExceeded("values", node.start_mark)
        if depth > MAX_DEPTH:
            raise LimitExceeded("depth", node.start_mark)
