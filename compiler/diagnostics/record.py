"""The diagnostic record: data only, rendered elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.diagnostics.code import Severity
from compiler.diagnostics.span import Span


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that explains the first: the other definition, the schema, the stack."""

    message: str
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    `span` is the tight range, `context` a wider one around it; `found`, `expected` and
    `hint` are short texts without the words themselves; `target` names the stack's target
    that the finding is about, if it is about one.
    """

    code: str
    severity: Severity
    message: str
    span: Span | None
    found: str | None = None
    expected: str | None = None
    hint: str | None = None
    context: Span | None = None
    related: tuple[Related, ...] = ()
    target: str | None = None

    def sort_key(self) -> tuple[str, int, int, str, str]:
        place = self.span.sort_key() if self.span else ("", 0, 0)
        return (*place, self.code, self.message)
