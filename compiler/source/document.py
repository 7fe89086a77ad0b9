"""One YAML document: plain data, and where each part of it was written."""

from __future__ import annotations

import enum
from typing import Any

from compiler.diagnostics import SourceText, Span
from compiler.source.nodes import roots_of
from compiler.source.paths import Path
from compiler.source.positions import locate, span_of, value_span


class Kind(enum.StrEnum):
    """What a document is; PIPELINE and GROUP are the headers of files with several tasks."""

    TASK = "task"
    PIPELINE = "pipeline"
    GROUP = "group"
    VOLUME = "volume"
    STACK = "stack"


class Document:
    """One document of a text. Immutable: changes give a new document over the same text.

    `data` is a map of plain dicts, lists, texts, numbers, booleans and None; nobody may change
    it. `index` counts the documents of the text from 0, empty ones included.
    """

    __slots__ = ("_overlays", "data", "index", "kind", "source")

    def __init__(
        self,
        source: SourceText,
        index: int,
        kind: Kind,
        data: dict[str, Any],
        _overlays: tuple[tuple[Path, Span | None], ...] = (),
    ) -> None:
        self.source = source
        self.index = index
        self.kind = kind
        self.data = data
        self._overlays = _overlays

    def __repr__(self) -> str:
        return f"<Document {self.source.path}#{self.index} {self.kind}>"

    def span(self, path: Path = ()) -> Span:
        """The range of the value at the path.

        Where that was not written: the nearest enclosing value that was. An empty value
        (`setup:`) has the range of its key; a block text the range of its lines, without the
        `|`; merged and aliased values the range where their text really stands.
        """
        return self._look_up(path, key=False)

    def key_span(self, path: Path) -> Span:
        """The range of the key that leads to the value; of the value itself for list items.

        Where the key was not written, that of the nearest enclosing value; at the top, the
        document's first key.
        """
        return self._look_up(path, key=True)

    def overlaid(self, path: Path, value: Any, span: Span) -> Document:
        """A copy with `value` at `path`, maps made on the way, positions answered by `span`.

        Raises KeyError where the path leads through a list item that is not there, and
        TypeError where it leads through a plain value.
        """
        if not path:
            raise ValueError("the whole document cannot be laid over")
        missing = next(
            (n for n in range(1, len(path)) if not _exists(self.data, path[:n])), len(path)
        )
        return self._with(_replaced(self.data, path, value), (path[:missing], span))

    def without(self, path: Path) -> Document:
        """A copy without the key at `path` (the same document where there is none).

        Look-ups at and below the path then answer the nearest enclosing value. Raises
        TypeError for a list item: taking one out would move the positions of the others.
        """
        if not path or not isinstance(path[-1], str):
            raise TypeError("only a field of a map can be taken out")
        if not _exists(self.data, path):
            return self
        return self._with(_removed(self.data, path), (path, None))

    def of_kind(self, kind: Kind) -> Document:
        """The same document, recognised as another kind."""
        if kind is self.kind:
            return self
        return Document(self.source, self.index, kind, self.data, self._overlays)

    def _with(self, data: dict[str, Any], overlay: tuple[Path, Span | None]) -> Document:
        return Document(self.source, self.index, self.kind, data, (*self._overlays, overlay))

    def _look_up(self, path: Path, *, key: bool) -> Span:
        for overlaid, span in reversed(self._overlays):
            if path[: len(overlaid)] == overlaid:
                return span or self._look_up(overlaid[:-1], key=key)
        root = roots_of(self.source).get(self.index)
        if root is None:
            return Span.of_whole_line(self.source, 1)
        place = locate(root, path)
        if not key:
            return value_span(self.source, place)
        if place.key is None and place.node is root:
            first = root.value[0][0] if root.value else root
            return span_of(self.source, first)
        return span_of(self.source, place.key or place.node)


def _exists(data: Any, path: Path) -> bool:
    for step in path:
        if isinstance(data, dict):
            if step not in data:
                return False
        elif (
            not isinstance(data, list) or not isinstance(step, int) or step not in range(len(data))
        ):
            return False
        data = data[step]
    return True


def _replaced(data: Any, path: Path, value: Any) -> Any:
    """A copy along the path only; the rest is shared."""
    if not path:
        return value
    step, below = path[0], path[1:]
    if isinstance(step, str):
        if data is not None and not isinstance(data, dict):
            raise TypeError(f"{step!r} leads into a value that is not a map")
        data = data or {}
        return {**data, step: _replaced(data.get(step), below, value)}
    if not isinstance(data, list):
        raise TypeError(f"[{step}] leads into a value that is not a list")
    if not 0 <= step < len(data):
        raise KeyError(step)
    return [_replaced(item, below, value) if n == step else item for n, item in enumerate(data)]


def _removed(data: Any, path: Path) -> Any:
    step, below = path[0], path[1:]
    if isinstance(data, list):
        return [_removed(item, below) if n == step else item for n, item in enumerate(data)]
    if not below:
        return {key: value for key, value in data.items() if key != step}
    return {key: _removed(value, below) if key == step else value for key, value in data.items()}
