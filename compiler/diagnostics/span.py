"""Where something was written: a file's text and a range in it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property


class SourceText:
    """The text of one input, kept for as long as a diagnostic may want to quote it.

    `path` is what is shown to people: relative to the current folder where possible,
    `<stdin>` for standard input, `<command line>` for values from flags.
    Ranges that hold a secret are hidden: renderers never print what stands there.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text
        self._hidden: dict[Span, None] = {}
        self.refused: set[Span] = set()
        """Values of which nothing could be made: what they then lack is not said again."""
        self.secrets: set[str] = set()
        """Values of secrets that stand in fields which messages quote."""

    def hide(self, span: Span) -> None:
        """From now on no renderer quotes this range."""
        self._hidden[span] = None

    def hides(self, span: Span) -> bool:
        """Whether any part of the range is hidden."""
        start, end = (span.line, span.column), (span.end_line, span.end_column)
        return any(
            start < (hidden.end_line, hidden.end_column) and (hidden.line, hidden.column) < end
            for hidden in self._hidden
        )

    def hidden_columns(self, number: int) -> list[tuple[int, int]]:
        """The hidden ranges of a line: pairs of first column and the one behind the last."""
        behind = len(self.line(number)) + 1
        return [
            (
                span.column if span.line == number else 1,
                span.end_column if span.end_line == number else behind,
            )
            for span in self._hidden
            if span.line <= number <= span.end_line
        ]

    def masked(self, text: str) -> str:
        """The text without the values of `secrets`."""
        for value in sorted(self.secrets, key=len, reverse=True):
            text = text.replace(value, "***")
        return text

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    def line(self, number: int) -> str:
        """The line with this 1-based number, or an empty string behind the end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a source text; lines and columns count from 1, the end is exclusive.

    Columns count characters (not bytes, not screen cells).
    """

    source: SourceText
    line: int
    column: int
    end_line: int
    end_column: int

    @property
    def location(self) -> str:
        """`path:line:column`, as editors and terminals understand it."""
        return f"{self.source.path}:{self.line}:{self.column}"

    def sort_key(self) -> tuple[str, int, int]:
        return (self.source.path, self.line, self.column)

    @classmethod
    def of_whole_line(cls, source: SourceText, line: int) -> Span:
        text = source.line(line)
        indent = len(text) - len(text.lstrip())
        return cls(source, line, indent + 1, line, max(len(text), indent + 1) + 1)
