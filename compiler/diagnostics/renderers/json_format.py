"""Diagnostics as JSON, in a shape with a version."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from compiler.diagnostics.json_text import json_text
from compiler.diagnostics.record import Diagnostic
from compiler.diagnostics.span import Span

FORMAT_VERSION = "1.0"


def render_json(diagnostics: Sequence[Diagnostic]) -> str:
    """`{"format_version": "1.0", "diagnostics": [...]}`; fields without a value are null."""
    document = {
        "format_version": FORMAT_VERSION,
        "diagnostics": [diagnostic_to_json(diagnostic) for diagnostic in diagnostics],
    }
    return json_text(document, indent=2) + "\n"


def diagnostic_to_json(diagnostic: Diagnostic) -> dict[str, Any]:
    """One diagnostic as plain data, for other documents that hold diagnostics."""
    return {
        "code": diagnostic.code,
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "span": span_to_json(diagnostic.span),
        "found": diagnostic.found,
        "expected": diagnostic.expected,
        "hint": diagnostic.hint,
        "target": diagnostic.target,
        "related": [
            {"message": related.message, "span": span_to_json(related.span)}
            for related in diagnostic.related
        ],
    }


def span_to_json(span: Span | None) -> dict[str, Any] | None:
    """Lines and columns (of characters) count from 1, the end is exclusive."""
    if span is None:
        return None
    return {
        "file": span.source.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }
