"""Errors of jsonschema as diagnostics: where, what was found, what is expected, what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from compiler.diagnostics import Code, Diagnostic, Span
from compiler.diagnostics.codes import schema as codes
from compiler.source.branches import verdict
from compiler.source.document import Document
from compiler.source.hiding import is_secret
from compiler.source.hints import type_hint, unknown_field_hint
from compiler.source.paths import Path, dotted
from compiler.source.schemas import Node, field_node, node_at
from compiler.source.suggestions import suggest
from compiler.source.wording import counted, described, kind_of, listed, quoted
from compiler.source.words import (
    allowed_values,
    any_case_values,
    any_case_words,
    expectation,
    types_in_words,
)

if TYPE_CHECKING:
    from jsonschema import ValidationError

_LONGEST_HINT = 200


@dataclass(frozen=True, slots=True)
class _Fault:
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


class Violations:
    """Translates the errors of one document (or of a part of it, which starts at `base`)."""

    def __init__(self, document: Document, root: Node, base: Path = ()) -> None:
        self._document = document
        self._root = root
        self._base = base

    def translate(self, errors: Iterable[ValidationError]) -> list[Diagnostic]:
        """The diagnostics; where the type is wrong nothing else is said about the value."""
        found = [pair for error in errors for pair in self._translate(error)]
        wrong = {path for path, diagnostic in found if diagnostic.code == codes.WRONG_TYPE.name}
        return [
            diagnostic
            for path, diagnostic in dict.fromkeys(found)
            if path not in wrong or diagnostic.code == codes.WRONG_TYPE.name
        ]

    def _translate(self, error: ValidationError) -> Iterator[tuple[Path, Diagnostic]]:
        below = tuple(error.absolute_path)
        node = node_at(self._root, list(error.absolute_schema_path)[:-1], error.schema)
        path = (*self._base, *below)
        fault = _Fault(error, path, node, quoted(dotted(path)) if path else self._whole)
        if error.validator in ("anyOf", "oneOf"):
            yield from self._branches(fault)
            return
        if "propertyNames" in error.relative_schema_path:
            yield path, self._refused_name(fault)
            return
        handler = _handlers.get(str(error.validator), Violations._other)
        for diagnostic in handler(self, fault):
            yield path, diagnostic

    @property
    def _whole(self) -> str:
        return f"the {self._document.kind}"

    # What each keyword says

    def _branches(self, fault: _Fault) -> Iterator[tuple[Path, Diagnostic]]:
        judged = verdict(fault.error, fault.node)
        for error in judged.errors:
            yield from self._translate(error)
        if judged.errors:
            return
        if judged.required:
            names = listed([quoted(name) for name in judged.required])
            yield (
                fault.path,
                codes.MISSING_FIELD.at(
                    self._document.key_span(fault.path), f"{fault.name} needs {names}"
                ),
            )
        elif judged.values:
            known = [value for node in judged.values for value in allowed_values(node[1]) or ()]
            expected = listed([expectation(node) for node in judged.values])
            yield fault.path, self._invalid(fault, expected, known)
        else:
            for diagnostic in self._type(fault):
                yield fault.path, diagnostic

    def _type(self, fault: _Fault) -> Iterator[Diagnostic]:
        node = self._full(fault)
        types = _types_of(node)
        span = self._document.span(fault.path)
        yield self._about(
            codes.WRONG_TYPE,
            fault,
            f"{fault.name} must be {types_in_words(types)}",
            expected=expectation(node),
            hint=type_hint(fault.value, types, span),
        )

    def _unknown_fields(self, fault: _Fault) -> Iterator[Diagnostic]:
        known = fault.error.schema.get("properties", {})
        where = f"in {fault.name}" if fault.path else f"at the top level of {self._whole}"
        root = self._root
        for key in fault.value:
            if key not in known:
                span = self._document.key_span((*fault.path, key))
                yield codes.UNKNOWN_FIELD.at(
                    span,
                    f"unknown field {quoted(key)} {where}",
                    hint=unknown_field_hint(root, fault.path, fault.node, key),
                    context=self._parent(fault.path, span),
                )

    def _required(self, fault: _Fault) -> Iterator[Diagnostic]:
        for name in fault.limit:
            if name not in fault.value:
                node = field_node(fault.node, [name])
                if node is None:  # the field is described elsewhere in the schema
                    node = field_node(self._root, [*fault.path[len(self._base) :], name])
                yield codes.MISSING_FIELD.at(
                    self._document.key_span(fault.path),
                    f"{fault.name} lacks the field {quoted(name)}",
                    expected=expectation(node) if node else None,
                )

    def _needed_beside(self, fault: _Fault) -> Iterator[Diagnostic]:
        for name, needed in fault.limit.items():
            for other in needed:
                if name in fault.value and other not in fault.value:
                    yield codes.MISSING_FIELD.at(
                        self._document.key_span((*fault.path, name)),
                        f"{quoted(dotted((*fault.path, name)))} needs {quoted(other)} beside it",
                    )

    def _values(self, fault: _Fault) -> Iterator[Diagnostic]:
        node = self._full(fault)
        yield self._invalid(fault, expectation(node), allowed_values(node[1]) or ())

    def _pattern(self, fault: _Fault) -> Iterator[Diagnostic]:
        node = self._full(fault)
        words = any_case_values(node[1])
        about = node[1].get("description")
        if not words:
            # Forms such as `cloud/region`: the misspelt word is usually the first part.
            first, slash, rest = str(fault.value).partition("/")
            words = [word + slash + rest for word in any_case_words(node[1]) if word != first]
        hint = about if about and len(about) <= _LONGEST_HINT else None
        yield self._invalid(fault, expectation(node), words, hint)

    def _refused_name(self, fault: _Fault) -> Diagnostic:
        key = str(fault.value)
        span = self._document.key_span((*fault.path, key))
        return codes.INVALID_VALUE.at(
            span,
            f"{quoted(key)} cannot be a key in {fault.name}",
            expected=expectation(fault.node),
            context=self._parent(fault.path, span),
        )

    def _not(self, fault: _Fault) -> Iterator[Diagnostic]:
        about = fault.error.schema.get("description")
        if fault.limit == {}:
            span = self._document.key_span(fault.path)
            yield codes.REFUSED_FIELD.at(
                span,
                f"{fault.name} cannot be given here",
                hint=about,
                context=self._parent(fault.path[:-1], span),
            )
        elif set(fault.limit) == {"required"}:
            names = fault.limit["required"]
            yield codes.CONFLICTING_FIELDS.at(
                self._document.key_span((*fault.path, names[-1])),
                f"{listed([quoted(name) for name in names], 'and')} exclude each other",
                hint="remove all but one",
            )
        else:
            yield self._invalid(fault, "", (), about)

    def _bound(self, fault: _Fault) -> Iterator[Diagnostic]:
        keyword, limit = str(fault.error.validator), fault.limit
        words = _bounds[keyword]
        if isinstance(words, tuple):
            noun, rule = words
            found: str | None = counted(len(fault.value), noun)
            message = f"{fault.name} must {rule} {counted(limit, noun)}"
            if limit == 1 and keyword.startswith("min"):
                message = f"{fault.name} must not be empty"
                found = None
        else:
            found = described(fault.value)
            message = f"{fault.name} must be {words} {limit}"
        yield self._about(codes.OUT_OF_RANGE, fault, message, found=found)

    def _unique(self, fault: _Fault) -> Iterator[Diagnostic]:
        for index, item in enumerate(fault.value):
            if item in fault.value[:index]:
                yield codes.INVALID_VALUE.at(
                    self._document.span((*fault.path, index)),
                    f"{fault.name} lists {described(item)} twice",
                    hint="remove one of them",
                )

    def _other(self, fault: _Fault) -> Iterator[Diagnostic]:
        yield self._invalid(fault, expectation(self._full(fault)), ())

    # What they share

    def _invalid(
        self, fault: _Fault, expected: str, known: Iterable[Any], hint: str | None = None
    ) -> Diagnostic:
        near = None
        if isinstance(fault.value, str) and not self._secret(fault):
            near = suggest(fault.value, [word for word in known if isinstance(word, str)])
        return self._about(
            codes.INVALID_VALUE,
            fault,
            f"{fault.name} cannot be {self._named(fault)}",
            expected=expected or None,
            hint=f"did you mean {quoted(near)}?" if near and near != fault.value else hint,
        )

    def _about(
        self,
        code: Code,
        fault: _Fault,
        message: str,
        *,
        found: str | None = None,
        expected: str | None = None,
        hint: str | None = None,
    ) -> Diagnostic:
        """A diagnostic about the value itself."""
        span = self._document.span(fault.path)
        return code.at(
            span,
            message,
            found=self._found(fault) if code is codes.WRONG_TYPE or found else None,
            expected=expected,
            hint=hint,
            context=self._parent(fault.path[:-1], span),
        )

    def _found(self, fault: _Fault) -> str:
        return kind_of(fault.value) if self._secret(fault) else described(fault.value)

    def _named(self, fault: _Fault) -> str:
        found = self._found(fault)
        return found.removeprefix("the text ") if isinstance(fault.value, str) else found

    def _secret(self, fault: _Fault) -> bool:
        span = self._document.span(fault.path)
        return is_secret(fault.path) or span.source.hides(span)

    def _full(self, fault: _Fault) -> Node:
        """The sub-schema, completed by what is said elsewhere about the same field."""
        if "type" in fault.node[1] or "anyOf" in fault.node[1]:
            return fault.node
        field = field_node(self._root, fault.path[len(self._base) :])
        return (fault.node[0], {**field[1], **fault.node[1]}) if field else fault.node

    def _parent(self, parent: Path, span: Span) -> Span | None:
        """From the line of the enclosing key to the span, so that both are shown."""
        if len(parent) <= len(self._base) and not parent:
            return None
        key = self._document.key_span(parent)
        if key.source is not span.source or (key.line, key.column) > (span.line, span.column):
            return None
        return Span(span.source, key.line, key.column, span.end_line, span.end_column)


def _types_of(node: Node) -> set[str]:
    types = node[1].get("type", [])
    found = {types} if isinstance(types, str) else set(types)
    for key in ("anyOf", "oneOf"):
        for branch in node[1].get(key, ()):
            found |= _types_of((node[0], branch))
    return found


_bounds: dict[str, str | tuple[str, str]] = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "multipleOf": "a multiple of",
    "minLength": ("character", "have at least"),
    "maxLength": ("character", "have at most"),
    "minItems": ("item", "have at least"),
    "maxItems": ("item", "have at most"),
    "minProperties": ("key", "have at least"),
    "maxProperties": ("key", "have at most"),
}

_handlers: dict[str, Callable[[Violations, _Fault], Iterator[Diagnostic]]] = {
    "type": Violations._type,
    "additionalProperties": Violations._unknown_fields,
    "required": Violations._required,
    "dependentRequired": Violations._needed_beside,
    "enum": Violations._values,
    "const": Violations._values,
    "pattern": Violations._pattern,
    "not": Violations._not,
    "uniqueItems": Violations._unique,
    **dict.fromkeys(_bounds, Violations._bound),
}
