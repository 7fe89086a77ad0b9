"""Marks where secrets stand, so that no message ever quotes them."""

from __future__ import annotations

import re

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from compiler.diagnostics import SourceText, Span
from compiler.source.merging import Merger, is_merge
from compiler.source.paths import Path
from compiler.source.positions import span_of
from compiler.source.scalars import NULL

_secret_envs = frozenset({"SKYPILOT_DOCKER_PASSWORD"})
_stack_fields = frozenset({"set", "targets"})
_url_password = re.compile(r"[A-Za-z][\w+.-]*://[^/@\s:]*:[^/@\s]+@")
_reference = re.compile(r"secrets:[\w.-]+\Z")
_top_level_secrets = re.compile(r"""(?:---\s+)?["']?secrets["']?\s*:""")
_field = re.compile(r"""\s+(?:-\s+)?["']?[\w.]+["']?\s*:\s*""")


def is_secret(path: Path) -> bool:
    """Whether the value at this path of a task is, or holds, a secret's value."""
    return path[:1] == ("secrets",) or (
        len(path) > 1 and path[0] == "envs" and path[1] in _secret_envs
    )


def holds_password(url: str) -> bool:
    """Whether there is a password, or a token in its place, in the URL."""
    return _url_password.match(url) is not None


def hide_secrets(source: SourceText, root: Node) -> None:
    """Hides the values under the top-level `secrets`, the registry password in `envs`, and a
    repository's URL with a password in it.

    What is written in the wrong form is hidden too: somebody meant it to be secret. Maps stay
    visible in a stack, where they say where a secret is kept.
    """
    if not isinstance(root, MappingNode):
        return
    for key, value in root.value:
        if key.value == "secrets":
            in_stack = any(
                isinstance(other, ScalarNode) and other.value in _stack_fields
                for other, _ in root.value
            )
            _hide_values(source, value, in_stack=in_stack)
        elif key.value == "workdir" and isinstance(value, MappingNode):
            for _, url in Merger().pairs(value).values():
                if isinstance(url, ScalarNode) and holds_password(url.value):
                    _hide(source, url)
        elif key.value == "envs" and isinstance(value, MappingNode):
            if not any(name in source.text for name in _secret_envs):
                continue
            for name, (_, password) in Merger().pairs(value).items():
                if name in _secret_envs:
                    _hide(source, password)


def _hide_values(source: SourceText, secrets: Node, *, in_stack: bool) -> None:
    if isinstance(secrets, MappingNode):
        for key, secret in [*secrets.value, *Merger().pairs(secrets).values()]:
            if is_merge(key) or (in_stack and isinstance(secret, MappingNode)):
                continue
            _hide(source, secret)
            if "=" in key.value:  # NAME=value where `NAME: value` was meant
                _hide(source, key)
        return
    for secret in secrets.value if isinstance(secrets, SequenceNode) else [secrets]:
        if not (isinstance(secret, ScalarNode) and _reference.match(secret.value)):
            _hide(source, secret)


def _hide(source: SourceText, node: Node) -> None:
    if node.tag != NULL:
        source.hide(span_of(source, node))


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
