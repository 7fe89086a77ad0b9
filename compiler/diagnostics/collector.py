"""Collecting diagnostics, so that all errors of a run are shown at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.diagnostics.code import Severity
from compiler.diagnostics.errors import InvalidInput
from compiler.diagnostics.record import Diagnostic


class Diagnostics:
    """An ordered, duplicate-free collection that one compilation fills as it goes."""

    def __init__(self, items: Iterable[Diagnostic] = ()) -> None:
        self._items: dict[Diagnostic, None] = dict.fromkeys(items)

    def add(self, diagnostic: Diagnostic) -> None:
        self._items.setdefault(diagnostic)

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        for diagnostic in diagnostics:
            self.add(diagnostic)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    @property
    def has_errors(self) -> bool:
        return any(item.severity is Severity.ERROR for item in self._items)

    def sorted(self) -> list[Diagnostic]:
        """By file, line, column: the order in which people read."""
        return sorted(self._items, key=Diagnostic.sort_key)

    def raise_if_errors(self) -> None:
        """Raise InvalidInput with everything collected, if any of it is an error."""
        if self.has_errors:
            raise InvalidInput(self.sorted())
