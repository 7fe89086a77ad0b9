"""Diagnostics as GitHub workflow commands, which become annotations of a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics.code import Severity
from compiler.diagnostics.record import Diagnostic
from compiler.diagnostics.renderers.wording import details

_commands = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def render_github(diagnostics: Sequence[Diagnostic]) -> str:
    """`::error file=...,line=...,col=...,title=code::message`, a line each."""
    return "".join(f"{_command(diagnostic)}\n" for diagnostic in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    properties: dict[str, str | int] = {}
    span = diagnostic.span
    # Standard input and the command line are no files of the repository.
    if span is not None and not span.source.path.startswith("<"):
        properties = {"file": span.source.path, "line": span.line, "endLine": span.end_line}
        if span.line == span.end_line:  # columns are only allowed within one line
            properties |= {"col": span.column, "endColumn": max(span.end_column - 1, span.column)}
    properties["title"] = diagnostic.code
    listed = ",".join(f"{name}={_property(str(value))}" for name, value in properties.items())
    return f"::{_commands[diagnostic.severity]} {listed}::{_data(details(diagnostic))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
