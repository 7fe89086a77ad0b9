"""Marks where secrets stand, so that no message ever quotes them."""

from __future__ import annotations

import re

from yaml.nodes import MappingNode, Node, ScalarNode

from compiler.diagnostics import SourceText, Span
from compiler.source.merging import Merger
from compiler.source.positions import span_of

_secret_envs = frozenset({"SKYPILOT_DOCKER_PASSWORD"})
_top_level_secrets = re.compile(r"""(?:---\s+)?["']?secrets["']?\s*:""")
_field = re.compile(r"""\s+(?:-\s+)?["']?[\w.]+["']?\s*:\s*""")


def is_secret(path: tuple[str | int, ...]) -> bool:
    """Whether the value at this path of a task is a secret's value."""
    if len(path) < 2:
        return False
    return path[0] == "secrets" or (path[0] == "envs" and path[1] in _secret_envs)


def hide_secrets(source: SourceText, root: Node) -> None:
    """Hides the texts directly under the top-level `secrets`, and the registry password."""
    if not isinstance(root, MappingNode):
        return
    for key, value in root.value:
        if key.value in ("secrets", "envs") and isinstance(value, MappingNode):
            for name, (_, secret) in Merger().pairs(value).items():
                if isinstance(secret, ScalarNode) and is_secret((key.value, name)):
                    span = span_of(source, secret)
                    if (span.line, span.column) != (span.end_line, span.end_column):
                        source.hide(span)


def hide_secrets_in_lines(source: SourceText) -> None:
    """The same for text that the parser refused: whatever follows a name below `secrets:`."""
    inside = False
    for number, line in enumerate(source.lines, start=1):
        if line[:1].strip() and not line.startswith("#"):
            start = _top_level_secrets.match(line)
            inside = start is not None
            if start is not None:
                _hide_rest(source, number, start.end())
        elif inside and not line.lstrip().startswith("#"):
            name = _field.match(line)
            _hide_rest(source, number, name.end() if name else len(line) - len(line.lstrip()))


def _hide_rest(source: SourceText, number: int, start: int) -> None:
    line = source.line(number)
    if line[start:].strip():
        source.hide(Span(source, number, start + 1, number, len(line) + 1))
