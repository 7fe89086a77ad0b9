"""A collector that takes the first findings about a document and says that there are more."""

from __future__ import annotations

from compiler.diagnostics import Diagnostic, Diagnostics, Severity, SourceText, Span
from compiler.diagnostics.codes import source as codes
from compiler.source.limits import MAX_FINDINGS


class Limited:
    """Passes on MAX_FINDINGS errors and as many warnings, so that hostile input stays cheap.

    Errors and warnings are counted apart: no number of warnings can hide an error.
    """

    def __init__(self, source: SourceText, diagnostics: Diagnostics) -> None:
        self._source = source
        self._diagnostics = diagnostics
        self._counts = dict.fromkeys(Severity, 0)

    @property
    def full(self) -> bool:
        """Whether further errors would not be shown."""
        return self._counts[Severity.ERROR] > MAX_FINDINGS

    def add(self, diagnostic: Diagnostic) -> None:
        self._counts[diagnostic.severity] += 1
        if self._counts[diagnostic.severity] <= MAX_FINDINGS:
            self._diagnostics.add(diagnostic)
        elif self._counts[diagnostic.severity] == MAX_FINDINGS + 1:
            self._diagnostics.add(
                codes.MORE_FINDINGS.at(
                    diagnostic.span or Span.of_whole_line(self._source, 1),
                    f"the document has more {diagnostic.severity}s; "
                    f"the first {MAX_FINDINGS} are shown",
                )
            )
