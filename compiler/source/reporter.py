"""What the handlers of schema violations share: the place, the value in words, the record."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler.diagnostics import Code, Diagnostic, Span
from compiler.diagnostics.codes import schema as codes
from compiler.source.document import Document
from compiler.source.hiding import is_secret
from compiler.source.paths import Path
from compiler.source.schemas import Node, field_node
from compiler.source.suggestions import suggest
from compiler.source.wording import described, kind_of, quoted

if TYPE_CHECKING:
    from jsonschema import ValidationError


@dataclass(frozen=True, slots=True)
class Fault:
    """One error of jsonschema, with what the handlers need to know about it."""

    error: ValidationError
    path: Path
    node: Node
    name: str

    @property
    def value(self) -> Any:
        return self.error.instance

    @property
    def limit(self) -> Any:
        return self.error.validator_value


class Reporter:
    """Makes diagnostics about one document, or about a part of it that starts at `base`."""

    def __init__(self, document: Document, root: Node, base: Path = ()) -> None:
        self.document = document
        self.root = root
        self.base = base

    @property
    def whole(self) -> str:
        return f"the {self.document.kind}"

    def invalid(
        self, fault: Fault, expected: str, known: Iterable[Any], hint: str | None = None
    ) -> Diagnostic:
        near = None
        if isinstance(fault.value, str) and not self.secret(fault):
            near = suggest(fault.value, [word for word in known if isinstance(word, str)])
        return self.about(
            codes.INVALID_VALUE,
            fault,
            f"{fault.name} cannot be {self.named(fault)}",
            expected=expected or None,
            hint=f"did you mean {quoted(near)}?" if near and near != fault.value else hint,
        )

    def about(
        self,
        code: Code,
        fault: Fault,
        message: str,
        *,
        found: str | None = None,
        expected: str | None = None,
        hint: str | None = None,
    ) -> Diagnostic:
        """A diagnostic about the value itself."""
        span = self.document.span(fault.path)
        return code.at(
            span,
            message,
            found=self.found(fault) if code is codes.WRONG_TYPE or found else None,
            expected=expected,
            hint=hint,
            context=self.parent(fault.path[:-1], span),
        )

    def found(self, fault: Fault) -> str:
        return kind_of(fault.value) if self.secret(fault) else described(fault.value)

    def named(self, fault: Fault) -> str:
        found = self.found(fault)
        return found.removeprefix("the text ") if isinstance(fault.value, str) else found

    def secret(self, fault: Fault) -> bool:
        span = self.document.span(fault.path)
        return is_secret(fault.path) or span.source.hides(span)

    def full(self, fault: Fault) -> Node:
        """The sub-schema, completed by what is said elsewhere about the same field."""
        if not isinstance(fault.node[1], dict):  # a schema that is just `false`
            return fault.node[0], {}
        if "type" in fault.node[1] or "anyOf" in fault.node[1]:
            return fault.node
        field = field_node(self.root, fault.path[len(self.base) :])
        return (fault.node[0], {**field[1], **fault.node[1]}) if field else fault.node

    def parent(self, parent: Path, span: Span) -> Span | None:
        """From the line of the enclosing key to the span, so that both are shown."""
        if len(parent) <= len(self.base) and not parent:
            return None
        key = self.document.key_span(parent)
        if key.source is not span.source or (key.line, key.column) > (span.line, span.column):
            return None
        return Span(span.source, key.line, key.column, span.end_line, span.end_column)
