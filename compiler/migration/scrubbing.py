"""The last look before anything leaves: no value of a secret stands in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from compiler.diagnostics.codes.migration_body import SECRET, SECRET_LEFT
from compiler.migration.notes import note_of
from compiler.migration.result import FoundSecret, Migration, Note, Outcome, Status

TAKEN_OUT = "<taken out>"


def scrub(migration: Migration, values: Iterable[str]) -> Migration:
    """Texts of the report without the values; no file at all where one of them is in it."""
    values = sorted({value for value in values if value}, key=len, reverse=True)
    if not values:
        return migration
    found = _scrubbed(migration, values)
    written = [migration.yaml or "", migration.smoke or ""]
    written.append((migration.script or b"").decode("utf-8", "surrogateescape"))
    if not any(value in text for value in values for text in written):
        return dataclasses.replace(
            found, yaml=migration.yaml, smoke=migration.smoke, script=migration.script
        )
    note = Note(
        None,
        SECRET_LEFT.name,
        "a secret stands in a directive, or in another place that is handed on",
        SECRET_LEFT.fix,
    )
    return dataclasses.replace(
        found,
        status=Status.BY_HAND,
        notes=(note, *found.notes),
        yaml=None,
        smoke=None,
        script=None,
    )


def without(text: str, values: Iterable[str]) -> str:
    """The text with a mark for every value."""
    for value in values:
        if value and value in text:
            text = text.replace(value, TAKEN_OUT)
    return text


def _scrubbed(item: Any, values: list[str]) -> Any:
    """The same with every text inside it cleaned."""
    if isinstance(item, Status | Outcome) or item is None:
        return item
    if isinstance(item, str):
        return without(item, values)
    if isinstance(item, tuple):
        return tuple(_scrubbed(inner, values) for inner in item)
    if isinstance(item, dict):
        return {key: _scrubbed(inner, values) for key, inner in item.items()}
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        fields = {
            field.name: _scrubbed(getattr(item, field.name), values)
            for field in dataclasses.fields(item)
        }
        return dataclasses.replace(item, **fields)
    return item


def about_secrets(secrets: tuple[FoundSecret, ...], keys: list[int]) -> list[Note]:
    """What is to be said about the secrets, and about private keys on these lines."""
    found = []
    for secret in secrets:
        where = ", ".join(map(str, secret.lines))
        if not secret.in_use and secret.taken_out:
            text = f"a key stands in a comment (line {where})"
            found.append(note_of(SECRET, secret.lines[0], text))
        elif secret.taken_out:
            text = f"the value of `{secret.name}` stands in the script (line {where})"
            found.append(note_of(SECRET, secret.lines[0], text))
        else:
            text = f"`{secret.name}` stands where the shell expands nothing (line {where})"
            found.append(note_of(SECRET_LEFT, secret.lines[0], text))
    found += [note_of(SECRET_LEFT, line, "a private key stands in the script") for line in keys]
    return found
