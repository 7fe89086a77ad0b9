"""Marks where secrets stand, so that no message ever quotes them."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from compiler.diagnostics import SourceText, Span
from compiler.source.kinds import KNOWN_FIELDS
from compiler.source.merging import Merger, is_merge
from compiler.source.paths import Path
from compiler.source.positions import span_of
from compiler.source.scalars import NULL
from compiler.source.suggestions import suggest

_secret_envs = frozenset({"SKYPILOT_DOCKER_PASSWORD"})
_stack_fields = frozenset({"set", "targets"})
_url_password = re.compile(r"[A-Za-z][\w+.-]*://[^/@\s:]*:[^/@\s]+@")
_reference = re.compile(r"secrets:[\w.-]+\Z")
_top_level_field = re.compile(r"""(?:---\s+)?["']?(?P<name>[\w-]+)["']?\s*:""")
_fields = frozenset({"secrets", "managed_secrets", "envs"})
_NEAR = 0.65
_secret_words = ("secret", "password", "passwd", "credential", "token")
_field = re.compile(r"""\s+(?:-\s+)?["']?[\w.]+["']?\s*:\s*""")


def is_secret(path: Path) -> bool:
    """Whether the value at this path of a task is, or holds, a secret's value."""
    return path[:1] == ("secrets",) or (
        len(path) > 1 and path[0] == "envs" and path[1] in _secret_envs
    )


def seems_secret(name: str) -> bool:
    """Whether the field is called like one for secrets or variables, and is none: a misspelt one.

    What stands in it is not shown, for it may be the secret that was to be kept.
    """
    if name in _fields:
        return False
    plain = name.lower()
    if plain.startswith("env") or any(word in plain for word in _secret_words):
        return True
    letters = Counter(plain)
    near = [field for field in _fields if _may_be_near(letters, field)]
    return bool(near) and suggest(plain, near) is not None


def _may_be_near(letters: Counter[str], field: str) -> bool:
    """Whether so many letters are the same that it is worth a look at their order."""
    common = (letters & Counter(field)).total()
    return 2 * common >= _NEAR * (letters.total() + len(field))


def holds_secrets(name: str) -> bool:
    """Whether what stands in an unknown field of this name may be a secret."""
    return name in _fields or seems_secret(name)


def holds_password(url: str) -> bool:
    """Whether there is a password, or a token in its place, in the URL."""
    return _url_password.match(url) is not None


def hide_secrets(source: SourceText, root: Node) -> None:
    """Hides the values under the top-level `secrets` and under fields that are called nearly so,
    the registry password in `envs`, and a repository's URL with a password in it.

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
        elif key.value == "managed_secrets":  # maps of it say where a value is to be put
            _hide_values(source, value, in_stack=True)
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
        elif isinstance(key, ScalarNode) and _may_be_misspelt(key.value):
            _hide_values(source, value, in_stack=False)


@lru_cache(maxsize=1024)
def _may_be_misspelt(name: str) -> bool:
    """`seems_secret` for the fields at the top, of which nearly all are known ones."""
    return name not in KNOWN_FIELDS and seems_secret(name)


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
        if in_stack and isinstance(secret, MappingNode):
            continue
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
            start = _top_level_field.match(line)
            inside = start is not None and (
                start["name"] == "secrets" or seems_secret(start["name"])
            )
            if start is not None and inside:
                _hide_rest(source, number, start.end())
        elif inside and not line.lstrip().startswith("#"):
            name = _field.match(line)
            _hide_rest(source, number, name.end() if name else len(line) - len(line.lstrip()))


def _hide_rest(source: SourceText, number: int, start: int) -> None:
    line = source.line(number)
    if line[start:].strip():
        source.hide(Span(source, number, start + 1, number, len(line) + 1))
