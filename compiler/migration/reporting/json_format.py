"""The report for programs: `{"format_version": "1.0", "kind": "migration", ...}`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from compiler.migration.reporting.wording import visible
from compiler.migration.result import Migration, Note

VERSION = "1.0"


def report(migration: Migration) -> dict[str, Any]:
    """One script as plain data; positions are lines, counted from 1 (0: the command line)."""
    return {
        "script": visible(migration.path),
        "status": str(migration.status),
        "target": migration.target,
        "name": migration.name,
        "directives": [
            {
                "line": entry.line,
                "directive": visible(entry.directive),
                "outcome": str(entry.outcome),
                "code": entry.code,
                "message": visible(entry.message),
                "yaml_path": list(entry.path) if entry.path else None,
                "yaml_line": entry.yaml_line,
            }
            for entry in migration.entries
        ],
        "reasons": [_note(note) for note in migration.reasons],
        "notes": [_note(note) for note in migration.notes],
        "secrets": [
            {"name": item.name, "lines": list(item.lines), "taken_out": item.taken_out}
            for item in migration.secrets
        ],
        "edits": [
            {
                "line": edit.line,
                "code": edit.code,
                "before": visible(edit.before),
                "after": visible(edit.after),
            }
            for edit in migration.edits
        ],
        "needs": [
            {
                "kind": fact.kind,
                "text": visible(fact.text),
                "line": fact.line,
                "detail": visible(fact.detail),
            }
            for fact in migration.facts
        ],
        "check": migration.check,
        "tasks": [report(part) for part in migration.parts],
        "request": {name: visible(value) for name, value in sorted(migration.request.items())},
    }


def _note(note: Note) -> Mapping[str, Any]:
    return {
        "line": note.line,
        "code": note.code,
        "message": visible(note.message),
        "hint": visible(note.hint),
    }
