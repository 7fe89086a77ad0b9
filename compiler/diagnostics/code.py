"""Diagnostic codes: the stable kebab-case name of one thing that can be said."""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from compiler.diagnostics.record import Diagnostic, Related
    from compiler.diagnostics.span import Span


class Severity(enum.StrEnum):
    """ERROR ends the command with exit code 1; WARNING and NOTE do not."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


_LONGEST_QUOTE = 120
_long_quote = re.compile(rf"`([^`\n]{{{_LONGEST_QUOTE + 1},}})`")
_registry: dict[str, Code] = {}


@dataclass(frozen=True, slots=True)
class Code:
    """One code: its name, its usual severity, and the text of its documentation page.

    `what` says in one sentence what was found, `why` why it matters, `fix` what to do;
    `example` is a small YAML that provokes it.
    """

    name: str
    severity: Severity
    what: str
    why: str
    fix: str
    example: str = ""

    def __post_init__(self) -> None:
        if self.name in _registry:
            raise ValueError(f"diagnostic code {self.name!r} is defined twice")
        _registry[self.name] = self

    def at(
        self,
        span: Span | None,
        message: str,
        *,
        found: str | None = None,
        expected: str | None = None,
        hint: str | None = None,
        context: Span | None = None,
        related: Iterable[Related] = (),
        target: str | None = None,
        severity: Severity | None = None,
    ) -> Diagnostic:
        """A diagnostic of this code; `span` is None only where no input text exists."""
        from compiler.diagnostics.record import Diagnostic

        message = shortened(message)
        hint = hint and shortened(hint)
        if span is not None and span.source.secrets:
            message, found, expected, hint = (
                text and span.source.masked(text) for text in (message, found, expected, hint)
            )
        return Diagnostic(
            code=self.name,
            severity=severity or self.severity,
            message=message or "",
            span=span,
            found=found,
            expected=expected,
            hint=hint,
            context=context,
            related=tuple(related),
            target=target,
        )


def shortened(message: str) -> str:
    """The message with an ellipsis in what it quotes at greater length than anybody reads."""
    if len(message) <= _LONGEST_QUOTE:
        return message
    return _long_quote.sub(lambda quote: f"`{quote[1][: _LONGEST_QUOTE - 1]}…`", message)


def all_codes() -> dict[str, Code]:
    """Every code of the program by name (loads the modules that define them)."""
    import importlib
    import pkgutil

    from compiler.diagnostics import codes

    for module in pkgutil.iter_modules(codes.__path__):
        importlib.import_module(f"{codes.__name__}.{module.name}")
    return dict(sorted(_registry.items()))
