"""What is reported while a node tree becomes data. Hidden values (secrets) are not quoted."""

from __future__ import annotations

from typing import Any

from yaml.constructor import SafeConstructor
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from compiler.diagnostics import Diagnostics, Related, SourceText, Span
from compiler.diagnostics.codes import source as codes
from compiler.source.limited import Limited
from compiler.source.merging import is_merge
from compiler.source.positions import span_of
from compiler.source.scalars import BOOL, FLOAT, INT, MERGE, NULL, STR, TIMESTAMP, VALUE
from compiler.source.wording import described, quoted

_standard = "tag:yaml.org,2002:"
_constructed = frozenset(SafeConstructor.yaml_constructors) - {None}
_key_readings = {
    NULL: "nothing",
    BOOL: "a boolean",
    INT: "a number",
    FLOAT: "a number",
    TIMESTAMP: "a date",
}


class Findings:
    """Adds diagnostics about nodes of one text."""

    def __init__(self, source: SourceText, diagnostics: Diagnostics) -> None:
        self._source = source
        self._diagnostics = Limited(source, diagnostics)

    def duplicate(self, node: MappingNode, key: ScalarNode) -> None:
        if self._diagnostics.full:
            return
        first = next(
            other
            for other, _ in node.value
            if isinstance(other, ScalarNode) and other.value == key.value and not is_merge(other)
        )
        self._diagnostics.add(
            codes.DUPLICATE_KEY.at(
                self._span(key),
                f"{quoted(key.value)} is given twice",
                hint="remove or rename one of them",
                related=[Related("first given here", self._span(first))],
            )
        )

    def bad_merge(self, node: Node) -> None:
        if isinstance(node, ScalarNode):
            found = "a plain value" if self._hidden(node) else quoted(node.value)
        else:
            found = "a list"
        self._diagnostics.add(
            codes.BAD_MERGE.at(
                self._span(node),
                "only a map, or a list of maps, can be merged",
                found=found,
                expected="an alias of a map, such as `<<: *defaults`",
            )
        )

    def collection_as_key(self, node: Node) -> None:
        kind = "list" if isinstance(node, SequenceNode) else "map"
        template = kind == "map" and node.flow_style and len(node.value) == 1
        self._diagnostics.add(
            codes.KEY_NOT_TEXT.at(
                self._span(node),
                f"a {kind} cannot be a key",
                expected="a text",
                hint="quote text that starts with `{{`" if template else None,
            )
        )

    def key_not_text(self, node: ScalarNode, tag: str) -> None:
        if tag not in _key_readings:
            self.foreign_tag(node, tag)
            return
        written = quoted(node.value) if node.value else "an empty key"
        self._diagnostics.add(
            codes.KEY_NOT_TEXT.at(
                self._span(node),
                f"{written} is read as {_key_readings[tag]}; a key must be a text",
                hint=f'quote it: "{node.value}"' if node.value else "give the key a name",
            )
        )

    def refused_scalar(self, node: ScalarNode, tag: str) -> None:
        if tag == BOOL:
            message = f"{self._quote(node)} is neither true nor false"
        else:
            message = f"{self._quote(node)} cannot be used as a number"
        self._source.refused.add(self._span(node))
        self._diagnostics.add(
            codes.INVALID_NUMBER.at(
                self._span(node),
                message,
                hint="write a finite number, or quote the value if a text is meant",
            )
        )

    def date(self, node: ScalarNode, *, in_envs: bool) -> None:
        """An error, but a warning in `envs`: there SkyPilot makes the same text of the date."""
        if in_envs and _date_text(node) == node.value:
            self.differs(node, TIMESTAMP, node.value)
            return
        self._diagnostics.add(
            codes.DATE_VALUE.at(
                self._span(node),
                f"{self._quote(node)} is read as a date, and no field holds dates",
                expected="a text",
                hint="quote it" if self._hidden(node) else f'quote it: "{node.value}"',
            )
        )

    def differs(self, node: ScalarNode, tag: str, value: Any) -> None:
        if self._hidden(node):
            message = "the value is another one in YAML 1.2 than in YAML 1.1"
            hint = "quote it"
        elif tag == STR:
            message = f"{quoted(node.value)} is read as a text; YAML 1.2 reads a number"
            hint = f'write "{node.value}" for the text, or a plain decimal number'
        elif tag == TIMESTAMP:
            message = f"{quoted(node.value)} is a date in YAML 1.1 and a text in YAML 1.2"
            hint = f'quote it: "{node.value}"'
        else:
            plain = str(value).lower() if tag == BOOL else str(value)
            other = "a text" if tag == BOOL else "another value"
            message = f"{quoted(node.value)} is read as {described(value)}; YAML 1.2 reads {other}"
            hint = f'write {plain} for the value, or "{node.value}" for the text'
        self._diagnostics.add(codes.YAML_1_2_DIFFERS.at(self._span(node), message, hint=hint))

    def foreign_tag(self, node: Node, tag: str) -> None:
        """A tag that no field's value can have: unknown, or of a type of YAML's own."""
        short = "!!" + tag.removeprefix(_standard) if tag.startswith(_standard) else tag
        code, hint = codes.UNKNOWN_TAG, "remove the tag, or quote a text that starts with `!`"
        if tag in (VALUE, MERGE):
            message = f"{self._quote(node)} has a meaning of its own in YAML 1.1"
            hint = "quote it"
        elif tag in _constructed:
            code, hint = codes.UNSUPPORTED_TAG, "write the value without the tag"
            message = f"no field holds a value of the YAML type {quoted(short)}"
        else:
            message = "unknown tag" if self._hidden(node) else f"unknown tag {quoted(short)}"
        self._diagnostics.add(code.at(self._span(node), message, hint=hint))

    def nul(self, node: ScalarNode) -> None:
        self._diagnostics.add(
            codes.CONTROL_CHARACTER.at(
                self._span(node),
                "the text holds a NUL character, which ends a text wherever it is used",
                hint="remove the `\\0`; in shell text use single quotes or a `|` block",
            )
        )

    def _span(self, node: Node) -> Span:
        return span_of(self._source, node)

    def _hidden(self, node: Node) -> bool:
        return self._source.hides(self._span(node))

    def _quote(self, node: Node) -> str:
        if self._hidden(node) or not isinstance(node, ScalarNode):
            return "the value"
        return quoted(node.value)


def _date_text(node: ScalarNode) -> str | None:
    """What SkyPilot makes of a date in `envs`; None where there is no such date."""
    try:
        return str(SafeConstructor().construct_yaml_timestamp(ScalarNode(TIMESTAMP, node.value)))
    except (ValueError, OverflowError):
        return None
