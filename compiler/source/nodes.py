"""Text to YAML node trees, within bounds, going on after a broken document.

The trees are what PyYAML's C parser composes. They are thrown away once plain data has been
made of them and composed again when somebody asks where a value stands: positions of ten
thousand files would otherwise fill the memory for the sake of a few messages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from yaml.error import MarkedYAMLError, YAMLError
from yaml.nodes import MappingNode, Node, ScalarNode

from compiler.source.limits import MAX_DEPTH, MAX_DOCUMENTS, MAX_FILE_NODES, MAX_RECOVERIES
from compiler.source.scalars import MAP, SEQ, SPECIAL_STARTS, STR, known_tag, plain_tag

if TYPE_CHECKING:
    from compiler.diagnostics import SourceText


_LONGEST_KNOWN = 40


class Mark(Protocol):
    """A position in the text; both numbers count from 0."""

    line: int
    column: int


class LimitExceeded(YAMLError):
    """The text is larger than any sane input; `limit` is the name of the bound."""

    def __init__(self, limit: str, mark: Mark | None) -> None:
        super().__init__(limit)
        self.limit = limit
        self.mark = mark


class Bounded:
    """The hooks that PyYAML's composer calls for each node: tags by YAML 1.1, and the bounds."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._depth = 0
        self._nodes = 0

    def descend_resolver(self, parent: Node | None, index: Any) -> None:
        self._depth += 1
        self._nodes += 1
        if self._depth > MAX_DEPTH:
            raise LimitExceeded("depth", parent.start_mark if parent else None)
        if self._nodes > MAX_FILE_NODES:
            raise LimitExceeded("nodes", parent.start_mark if parent else None)

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def resolve(self, kind: type[Node], value: str | None, implicit: Any) -> str:
        if kind is ScalarNode:
            assert value is not None
            if not implicit[0] or value[:1] not in SPECIAL_STARTS:
                return STR
            return known_tag(value) if len(value) <= _LONGEST_KNOWN else plain_tag(value)
        return MAP if kind is MappingNode else SEQ


def c_loader() -> type | None:
    """The composer over libyaml, or None where PyYAML was built without it."""
    try:
        from yaml.cyaml import CParser
    except ImportError:
        return None
    return type("CLoader", (Bounded, CParser), {})


def pure_loader() -> type:
    """The composer in Python alone: slower, the same nodes."""
    from yaml.composer import Composer
    from yaml.parser import Parser
    from yaml.reader import Reader
    from yaml.scanner import Scanner

    class PureParser(Reader, Scanner, Parser, Composer):
        def __init__(self, text: str) -> None:
            Reader.__init__(self, text)
            Scanner.__init__(self)
            Parser.__init__(self)
            Composer.__init__(self)

    return type("PureLoader", (Bounded, PureParser), {})


_loader: type = c_loader() or pure_loader()
_document_start = re.compile(r"---(?=\s|\Z)")


def compose(
    text: str, faults: list[YAMLError], loader: type | None = None
) -> Iterator[tuple[int, Node]]:
    """The documents of a text one by one: (index, root node).

    After a broken document reading goes on at the next `---`; what was wrong is added to
    `faults`. Trees are handed out singly so that a caller who drops them keeps memory low.
    """
    index = 0
    rest = text
    resumed_at = -1
    for _ in range(MAX_RECOVERIES + 1):
        try:
            reader = (loader or _loader)(rest)
        except UnicodeEncodeError as error:  # a lone surrogate, from a caller's own text
            faults.append(YAMLError(str(error)))
            return
        except YAMLError as error:  # the Python reader checks all characters up front
            faults.append(error)
            return
        try:
            while reader.check_node():
                if index >= MAX_DOCUMENTS:
                    raise LimitExceeded("documents", None)
                root = reader.get_node()
                if root is not None:
                    yield index, root
                index += 1
            return
        except MarkedYAMLError as error:
            faults.append(error)
            index += 1
            next_start = _next_start(text, error, resumed_at)
            if next_start is None:
                return
            resumed_at, rest = next_start
        except YAMLError as error:
            faults.append(error)
            return
        finally:
            reader.dispose()


def _next_start(text: str, error: MarkedYAMLError, resumed_at: int) -> tuple[int, str] | None:
    """The first `---` behind what is broken: its line and the text from it on.

    Empty lines stand for everything before it, so that all positions stay right.
    """
    mark = error.context_mark or error.problem_mark
    if mark is None:
        return None
    # An error in column 0 of a `---` line means that the document before was not complete.
    first = max(mark.line + (mark.column != 0), resumed_at + 1)
    lines = text.splitlines(keepends=True)
    for number in range(first, len(lines)):
        if _document_start.match(lines[number]):
            return number, "\n" * number + "".join(lines[number:])
    return None


@lru_cache(maxsize=32)
def roots_of(source: SourceText) -> dict[int, Node]:
    """The root nodes of a text by document index; kept for the last few texts asked about."""
    return dict(compose(source.text, []))
