"""Checking documents against the JSON Schemas."""

from __future__ import annotations

from itertools import islice
from typing import Any

from compiler.diagnostics import Diagnostics, Severity
from compiler.diagnostics.codes import schema as codes
from compiler.source.acceptance import accepts
from compiler.source.document import Document, Kind
from compiler.source.limited import Limited
from compiler.source.limits import MAX_FINDINGS
from compiler.source.paths import Path, dotted
from compiler.source.schemas import schema as schema_of
from compiler.source.wording import quoted

_SCHEMAS = {Kind.PIPELINE: "group"}
_TOLERANT = {"volume": ((), ("config",))}
"""Places where the dialect accepts unknown keys silently; we warn."""


def check(document: Document, schema: str, diagnostics: Diagnostics) -> bool:
    """Report everything that the schema of this name has against the document.

    Known keys without a value at the top of a document count as absent. Returns whether there were
    no errors. Raises KeyError for a schema that does not exist.
    """
    data = document.data
    if None in data.values():
        known = schema_of(schema).get("properties", {})
        data = {key: value for key, value in data.items() if value is not None or key not in known}
    valid = _check(document, (), data, schema, None, diagnostics)
    for path in _TOLERANT.get(schema, ()):
        _warn_of_unknown(document, path, schema, diagnostics)
    return valid


def check_value(
    document: Document,
    path: Path,
    value: Any,
    schema: str,
    definition: str,
    diagnostics: Diagnostics,
) -> bool:
    """Check a value that stands for the one at `path` against one of the schema's `$defs`.

    For what substitution made of a part of a document: `check_value(document, ("service",),
    substituted, "task", "service", diagnostics)`. Returns whether there were no errors.
    """
    return _check(document, path, value, schema, definition, diagnostics)


def schema_for(kind: Kind) -> str:
    """The name of the schema for documents of this kind; headers share one."""
    return _SCHEMAS.get(kind, str(kind))


def _check(
    document: Document,
    path: Path,
    value: Any,
    name: str,
    definition: str | None,
    diagnostics: Diagnostics,
) -> bool:
    if accepts(name, definition, value):
        return True
    from compiler.source.schemas import validator

    checker = validator(name, definition)
    errors = list(islice(checker.iter_errors(value), MAX_FINDINGS + 1))
    if not errors:
        return True
    from compiler.source.violations import Violations

    limited = Limited(document.source, diagnostics)
    for diagnostic in Violations(document, (name, checker.schema), path).translate(errors):
        limited.add(diagnostic)
    return False


def _warn_of_unknown(document: Document, path: Path, name: str, diagnostics: Diagnostics) -> None:
    data: Any = document.data
    for step in path:
        data = data.get(step)
    if not isinstance(data, dict):
        return
    from compiler.source.schemas import field_node, schema

    root = (name, schema(name))
    node = field_node(root, path)
    assert node is not None
    from compiler.source.hints import unknown_field_hint

    where = f"in {quoted(dotted(path))}" if path else f"at the top level of the {name}"
    unknown = (key for key in data if key not in node[1]["properties"])
    for key in islice(unknown, MAX_FINDINGS):
        diagnostics.add(
            codes.UNKNOWN_FIELD.at(
                document.key_span((*path, key)),
                f"unknown field {quoted(key)} {where}; it is ignored",
                hint=unknown_field_hint(root, path, node, key),
                severity=Severity.WARNING,
            )
        )
