"""Diagnostics as SARIF 2.1.0, which code scanning services read."""

from __future__ import annotations

import urllib.parse
from collections.abc import Sequence
from typing import Any

from compiler import __version__
from compiler.diagnostics.code import Code, Severity, all_codes
from compiler.diagnostics.json_text import json_text
from compiler.diagnostics.record import Diagnostic
from compiler.diagnostics.renderers.wording import details
from compiler.diagnostics.span import Span

_levels = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}


def render_sarif(diagnostics: Sequence[Diagnostic]) -> str:
    """One run with every code of the program as a rule and the diagnostics as results."""
    codes = all_codes()
    index = {name: number for number, name in enumerate(codes)}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "triplane",
                        "version": __version__,
                        "rules": [_rule(code) for code in codes.values()],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [_result(diagnostic, index) for diagnostic in diagnostics],
            }
        ],
    }
    return json_text(log, indent=2) + "\n"


def _rule(code: Code) -> dict[str, Any]:
    return {
        "id": code.name,
        "shortDescription": {"text": code.what},
        "fullDescription": {"text": f"{code.what} {code.why}"},
        "help": {"text": code.fix},
        "defaultConfiguration": {"level": _levels[code.severity]},
    }


def _result(diagnostic: Diagnostic, index: dict[str, int]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "level": _levels[diagnostic.severity],
        "message": {"text": details(diagnostic)},
    }
    if diagnostic.code in index:
        result["ruleIndex"] = index[diagnostic.code]
    if diagnostic.span is not None:
        result["locations"] = [{"physicalLocation": _location(diagnostic.span)}]
    related = [
        {
            "id": number,
            "message": {"text": place.message},
            "physicalLocation": _location(place.span),
        }
        for number, place in enumerate(diagnostic.related)
        if place.span is not None
    ]
    if related:
        result["relatedLocations"] = related
    return result


def _location(span: Span) -> dict[str, Any]:
    path = span.source.path
    address = urllib.parse.quote(path, errors="surrogateescape")
    return {
        "artifactLocation": {"uri": f"file://{address}" if path.startswith("/") else address},
        "region": {
            "startLine": span.line,
            "startColumn": span.column,
            "endLine": span.end_line,
            "endColumn": span.end_column,
        },
    }
