"""The way back from a value of the model to where it was written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from compiler.diagnostics import Span
    from compiler.source import Document, Path


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """A place in a document, named by the path of keys and indices that leads to it."""

    document: Document
    path: Path = ()

    def child(self, *steps: str | int) -> Origin:
        return Origin(self.document, (*self.path, *steps))

    def span(self, *steps: str | int) -> Span:
        """The range of the value here (or below, following `steps`).

        Where the value was not written, the nearest enclosing one that was.
        """
        return self.document.span((*self.path, *steps))

    def key_span(self, *steps: str | int) -> Span:
        """The range of the key that leads to the value; the value's for list items."""
        return self.document.key_span((*self.path, *steps))

    @property
    def dotted(self) -> str:
        """The path as people write it: `resources.any_of[0].accelerators`."""
        text = ""
        for step in self.path:
            text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
        return text
