"""Text to documents with positions; schema validation; "did you mean"."""

from compiler.source.bundling import bundled
from compiler.source.discovery import discover, read_paths, read_units
from compiler.source.document import Document, Kind
from compiler.source.kinds import Unit, detect
from compiler.source.paths import Path, dotted
from compiler.source.reading import read_file, read_stdin, read_text
from compiler.source.schemas import (
    field_cases,
    field_names,
    field_schema,
    has_free_keys,
    schema,
    schema_names,
)
from compiler.source.suggestions import suggest
from compiler.source.validation import check, check_value, schema_for

__all__ = [
    "Document",
    "Kind",
    "Path",
    "Unit",
    "bundled",
    "check",
    "check_value",
    "detect",
    "discover",
    "dotted",
    "field_cases",
    "field_names",
    "field_schema",
    "has_free_keys",
    "read_file",
    "read_paths",
    "read_stdin",
    "read_text",
    "read_units",
    "schema",
    "schema_for",
    "schema_names",
    "suggest",
]
