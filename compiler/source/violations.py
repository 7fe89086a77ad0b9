"""Errors of jsonschema as diagnostics: where, what was found, what is expected, what to do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import schema as codes
from compiler.source.branches import verdict
from compiler.source.hiding import holds_secrets
from compiler.source.hints import type_hint, unknown_field_hint
from compiler.source.limits import MAX_FINDINGS
from compiler.source.paths import Path, dotted
from compiler.source.reporter import Fault, Reporter
from compiler.source.schemas import field_node, node_at
from compiler.source.wording import counted, described, listed, quoted
from compiler.source.words import (
    allowed_values,
    any_case_values,
    any_case_words,
    expectation,
    types_in_words,
    types_of,
)

if TYPE_CHECKING:
    from jsonschema import ValidationError

_LONGEST_HINT = 200


class Violations(Reporter):
    """Translates the errors that jsonschema finds."""

    def translate(self, errors: Iterable[ValidationError]) -> list[Diagnostic]:
        """The diagnostics; where the type is wrong nothing else is said about the value."""
        everything = (pair for error in errors for pair in self._translate(error))
        found = list(islice(everything, 2 * MAX_FINDINGS))
        wrong = {path for path, diagnostic in found if diagnostic.code == codes.WRONG_TYPE.name}
        return [
            diagnostic
            for path, diagnostic in dict.fromkeys(found)
            if path not in wrong or diagnostic.code == codes.WRONG_TYPE.name
        ]

    def _translate(self, error: ValidationError) -> Iterator[tuple[Path, Diagnostic]]:
        below = tuple(error.absolute_path)
        node = node_at(self.root, list(error.absolute_schema_path)[:-1], error.schema)
        path = (*self.base, *below)
        fault = Fault(error, path, node, quoted(dotted(path)) if path else self.whole)
        if error.validator in ("anyOf", "oneOf") and error.context:
            yield from self._branches(fault)
            return
        if "propertyNames" in error.relative_schema_path:
            yield path, self._refused_name(fault)
            return
        handler = _handlers.get(str(error.validator), Violations._other)
        nothing = True
        for diagnostic in handler(self, fault):
            nothing = False
            yield path, diagnostic
        if nothing:
            yield from ((path, diagnostic) for diagnostic in self._other(fault))

    # What each keyword says

    def _branches(self, fault: Fault) -> Iterator[tuple[Path, Diagnostic]]:
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
                    self.document.key_span(fault.path), f"{fault.name} needs {names}"
                ),
            )
        elif judged.values:
            known = [value for node in judged.values for value in allowed_values(node[1]) or ()]
            expected = listed([expectation(node) for node in judged.values])
            yield fault.path, self.invalid(fault, expected, known)
        else:
            for diagnostic in self._type(fault):
                yield fault.path, diagnostic

    def _type(self, fault: Fault) -> Iterator[Diagnostic]:
        node = self.full(fault)
        types = types_of(node)
        span = self.document.span(fault.path)
        yield self.about(
            codes.WRONG_TYPE,
            fault,
            f"{fault.name} must be {types_in_words(types)}",
            expected=expectation(node),
            hint=type_hint(fault.value, types, span),
        )

    def _unknown_fields(self, fault: Fault) -> Iterator[Diagnostic]:
        known = fault.error.schema.get("properties", {})
        where = f"in {fault.name}" if fault.path else f"at the top level of {self.whole}"
        for key in fault.value:
            if key not in known:
                span = self.document.key_span((*fault.path, key))
                if fault.path and fault.value[key] is not None and holds_secrets(key):
                    written = self.document.span((*fault.path, key))
                    written.source.hide(written)
                yield codes.UNKNOWN_FIELD.at(
                    span,
                    f"unknown field {quoted(key)} {where}",
                    hint=unknown_field_hint(self.root, fault.path, fault.node, key),
                    context=self.parent(fault.path, span),
                )

    def _required(self, fault: Fault) -> Iterator[Diagnostic]:
        for name in fault.limit:
            if name not in fault.value:
                node = field_node(fault.node, [name])
                if node is None:  # the field is described elsewhere in the schema
                    node = field_node(self.root, [*fault.path[len(self.base) :], name])
                yield codes.MISSING_FIELD.at(
                    self.document.key_span(fault.path),
                    f"{fault.name} lacks the field {quoted(name)}",
                    expected=expectation(node) if node else None,
                )

    def _needed_beside(self, fault: Fault) -> Iterator[Diagnostic]:
        for name, needed in fault.limit.items():
            for other in needed:
                if name in fault.value and other not in fault.value:
                    yield codes.MISSING_FIELD.at(
                        self.document.key_span((*fault.path, name)),
                        f"{quoted(dotted((*fault.path, name)))} needs {quoted(other)} beside it",
                    )

    def _values(self, fault: Fault) -> Iterator[Diagnostic]:
        node = self.full(fault)
        yield self.invalid(fault, expectation(node), allowed_values(node[1]) or ())

    def _pattern(self, fault: Fault) -> Iterator[Diagnostic]:
        node = self.full(fault)
        words = any_case_values(node[1])
        hint = None
        if words is None:
            # Forms such as `cloud/region`: the misspelt word is usually the first part.
            first, slash, rest = str(fault.value).partition("/")
            words = [word + slash + rest for word in any_case_words(node[1]) if word != first]
            about = node[1].get("description", "")
            hint = about if 0 < len(about) <= _LONGEST_HINT else None
        yield self.invalid(fault, expectation(node), words, hint)

    def _refused_name(self, fault: Fault) -> Diagnostic:
        key = str(fault.value)
        span = self.document.key_span((*fault.path, key))
        name = "this" if span.source.hides(span) else quoted(key)
        return codes.INVALID_VALUE.at(
            span,
            f"{name} cannot be a key in {fault.name}",
            expected=expectation(fault.node),
            context=self.parent(fault.path, span),
        )

    def _not(self, fault: Fault) -> Iterator[Diagnostic]:
        about = fault.error.schema.get("description")
        if fault.limit == {}:
            span = self.document.key_span(fault.path)
            yield codes.REFUSED_FIELD.at(
                span,
                f"{fault.name} cannot be given here",
                hint=about,
                context=self.parent(fault.path[:-1], span),
            )
        elif set(fault.limit) == {"required"}:
            names = fault.limit["required"]
            yield codes.CONFLICTING_FIELDS.at(
                self.document.key_span((*fault.path, names[-1])),
                f"{listed([quoted(name) for name in names], 'and')} exclude each other",
                hint="remove all but one",
            )
        else:
            yield self.invalid(fault, "", (), about)

    def _bound(self, fault: Fault) -> Iterator[Diagnostic]:
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
        yield self.about(codes.OUT_OF_RANGE, fault, message, found=found)

    def _unique(self, fault: Fault) -> Iterator[Diagnostic]:
        for index, item in enumerate(fault.value):
            if item in fault.value[:index]:
                yield codes.INVALID_VALUE.at(
                    self.document.span((*fault.path, index)),
                    f"{fault.name} lists {described(item)} twice",
                    hint="remove one of them",
                )

    def _other(self, fault: Fault) -> Iterator[Diagnostic]:
        yield self.invalid(fault, expectation(self.full(fault)), ())


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

_handlers: dict[str, Callable[[Violations, Fault], Iterator[Diagnostic]]] = {
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
