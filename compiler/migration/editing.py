"""Changing places of a script and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from compiler.migration.result import Edit, FoundSecret
from compiler.migration.script import Script
from compiler.migration.shell.body import Body
from compiler.migration.shell.secrets import Secret

_REMOVED = "<taken out>"


@dataclass(frozen=True, slots=True)
class Change:
    """Bytes `start` to before `end` become `text`; `shown` is what a report may quote."""

    start: int
    end: int
    text: str
    line: int
    code: str
    shown: str | None = None


def apply(data: bytes, changes: Iterable[Change]) -> bytes:
    """The text with all changes; they must not overlap."""
    parts = []
    at = 0
    for change in sorted(changes, key=lambda change: change.start):
        if change.start < at:
            raise ValueError("two changes of the same place")
        parts += [data[at : change.start], change.text.encode("utf-8", "surrogateescape")]
        at = change.end
    return b"".join([*parts, data[at:]])


def edits(data: bytes, changes: Iterable[Change]) -> tuple[Edit, ...]:
    """The changes for people, by line."""
    found = []
    for change in sorted(changes, key=lambda change: change.start):
        before = change.shown
        if before is None:
            before = data[change.start : change.end].decode("utf-8", "replace")
        found.append(Edit(change.line, change.code, before, change.text))
    return tuple(found)


def take_out(script: Script, code: str) -> tuple[list[Change], tuple[FoundSecret, ...]]:
    """Changes that put the names of secrets for their values, and the secrets by name."""
    names = _names(sorted(script.secrets, key=lambda secret: secret.how == "comment"))
    changes: list[Change] = []
    lines: dict[str, list[int]] = {}
    left: set[str] = set()
    used: set[str] = set()
    for secret in script.secrets:
        name = names[secret.value]
        lines.setdefault(name, []).append(secret.line)
        text = _reference(script.body, secret, name)
        if text is None:
            left.add(name)
            continue
        if text != _REMOVED:
            used.add(name)
        changes.append(Change(secret.start, secret.end, text, secret.line, code, _REMOVED))
    found = tuple(
        FoundSecret(name, tuple(dict.fromkeys(where)), name not in left, name in used)
        for name, where in lines.items()
    )
    return changes, found


def _names(secrets: Iterable[Secret]) -> dict[str, str]:
    """A name for each value: the first that it goes by, with a number where it is taken."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for secret in secrets:
        if secret.value in names:
            continue
        name = base = secret.name.upper()
        number = 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        taken.add(name)
        names[secret.value] = name
    return names


def _reference(body: Body, secret: Secret, name: str) -> str | None:
    """What the shell turns into the value at this place; None where it turns nothing."""
    if body.root is None:
        return None
    node = body.root.descendant_for_byte_range(secret.start, secret.end)
    while node is not None:
        kind = node.type
        if kind == "comment":
            return _REMOVED
        if kind in ("string_content", "string"):
            return f"${{{name}}}"
        if kind == "raw_string":
            return f"'\"${{{name}}}\"'"
        if kind == "heredoc_body":
            doc = next((doc for doc in body.heredocs if doc.start <= secret.start < doc.end), None)
            return f"${{{name}}}" if doc is not None and doc.expands else None
        if kind in ("word", "number", "concatenation", "command_name"):
            return f'"${{{name}}}"'
        if kind in ("ERROR", "program"):
            return None
        node = node.parent
    return None
