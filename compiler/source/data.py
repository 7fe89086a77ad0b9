"""One node tree to plain dicts, lists and scalars, as PyYAML's safe loader would build them.

Differences are only where that loader gives something no field can hold (dates, sets, keys that
are no text): those are reported, and the data has the text that was written.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode

from compiler.diagnostics import Diagnostics, SourceText
from compiler.source.findings import Findings
from compiler.source.limits import MAX_DEPTH, MAX_DOCUMENT_VALUES
from compiler.source.merging import Merger, is_merge, merge_sources
from compiler.source.nodes import LimitExceeded
from compiler.source.scalars import (
    BOOL,
    FLOAT,
    INT,
    MAP,
    NULL,
    SAME,
    SEQ,
    STR,
    TIMESTAMP,
    VALUE,
    ScalarRefused,
    bool_value,
    float_value,
    int_value,
)


class Converter:
    """Builds the data of one document and reports what it cannot build."""

    def __init__(self, source: SourceText, root: Node, diagnostics: Diagnostics) -> None:
        self._root = root
        self._findings = Findings(source, diagnostics)
        self._merger = Merger()
        self._values = 0
        self._merged_keys: set[int] = set()  # of maps that were looked at as sources of a merge

    def convert(self) -> Any:
        """The data; raises LimitExceeded for input that expands beyond all bounds."""
        root = self._root
        return self._scalar(root) if isinstance(root, ScalarNode) else self._collection(root, 1)

    def _collection(self, node: Node, depth: int) -> Any:
        """A map or list. This is the hot loop: plain texts are taken without a call."""
        children = node.value
        self._values += len(children)
        if depth > MAX_DEPTH or self._values > MAX_DOCUMENT_VALUES:
            raise LimitExceeded("depth" if depth > MAX_DEPTH else "values", node.start_mark)
        if node.__class__ is not MappingNode:
            if node.tag is not SEQ and node.tag != SEQ:
                self._findings.foreign_tag(node, node.tag)
            items: list[Any] = []
            for item in children:
                if item.__class__ is ScalarNode:
                    items.append(item.value if item.tag is STR else self._scalar(item))
                else:
                    items.append(self._collection(item, depth + 1))
            return items
        if node.tag is not MAP and node.tag != MAP:
            self._findings.foreign_tag(node, node.tag)
        data: dict[str, Any] = {}
        for key_node, value in children:
            if key_node.__class__ is ScalarNode and key_node.tag is STR:
                key = key_node.value
            elif is_merge(key_node):
                return self._merged(node, depth)
            else:
                checked = self._key(key_node)
                if checked is None:
                    continue
                key = checked
            if key in data and id(key_node) not in self._merged_keys:
                self._findings.duplicate(node, key_node)
            if value.__class__ is ScalarNode:
                data[key] = value.value if value.tag is STR else self._scalar(value)
            else:
                data[key] = self._collection(value, depth + 1)
        return data

    def _merged(self, node: MappingNode, depth: int) -> dict[str, Any]:
        """A map that holds a merge key."""
        seen: set[str] = set()
        for key_node, value in node.value:
            if is_merge(key_node):
                for source in merge_sources(value):
                    if not isinstance(source, MappingNode):
                        self._findings.bad_merge(source)
                    elif source is node:  # the pairs would hide that it contains itself
                        raise LimitExceeded("depth", node.start_mark)
                    else:
                        self._merged_in_place(key_node, source)
                continue
            key = self._key(key_node)
            if key in seen and id(key_node) not in self._merged_keys:
                self._findings.duplicate(node, key_node)
            elif key is not None:
                seen.add(key)
        pairs = self._merger.pairs(node)
        self._values += len(pairs)
        return {
            key: self._scalar(value)
            if isinstance(value, ScalarNode)
            else self._collection(value, depth + 1)
            for key, (_, value) in pairs.items()
        }

    def _merged_in_place(self, merge: Node, source: MappingNode) -> None:
        """Look at the keys of a map that stands behind its `<<`. An alias leads to one that
        stands before it, and is looked at there."""
        if source.start_mark.index < merge.start_mark.index:
            return
        seen: set[str] = set()
        for key_node, value in source.value:
            if id(key_node) in self._merged_keys:
                return
            self._merged_keys.add(id(key_node))
            if is_merge(key_node):
                for inner in merge_sources(value):
                    if isinstance(inner, MappingNode):
                        self._merged_in_place(key_node, inner)
            elif isinstance(key_node, ScalarNode):
                if key_node.value in seen:
                    self._findings.duplicate(source, key_node)
                seen.add(key_node.value)

    def _key(self, node: Node) -> str | None:
        """A key in the data; None where no text can stand for it. Reports what is no text."""
        if not isinstance(node, ScalarNode):
            self._findings.collection_as_key(node)
            return None
        tag = SAME.get(node.tag, node.tag)
        if tag not in (STR, VALUE):
            self._findings.key_not_text(node, tag)
        text: str = node.value
        return text

    def _scalar(self, node: ScalarNode) -> Any:
        tag = SAME.get(node.tag, node.tag)
        text: str = node.value
        value: Any = text
        try:
            if tag == NULL:
                return None
            if tag == BOOL:
                value = bool_value(text)
            elif tag == INT:
                value = int_value(text)
            elif tag == FLOAT:
                value = float_value(text)
            elif tag == TIMESTAMP:
                self._findings.date(node, in_envs=id(node) in self._env_nodes)
                return text
            elif tag != STR:
                self._findings.foreign_tag(node, tag)
                return text
        except ScalarRefused:
            self._findings.refused_scalar(node, tag)
            return text
        if tag is not node.tag and node.tag in SAME:
            self._findings.differs(node, tag, value)
        return value

    @cached_property
    def _env_nodes(self) -> set[int]:
        """The identities of the values of the document's `envs`, which become texts anyway."""
        if not isinstance(self._root, MappingNode):
            return set()
        envs = self._merger.pairs(self._root).get("envs")
        if envs is None or not isinstance(envs[1], MappingNode):
            return set()
        return {id(value) for _, value in self._merger.pairs(envs[1]).values()}
