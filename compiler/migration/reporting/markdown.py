"""The report for a pull request or a page of documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.migration.reporting.wording import (
    OUTCOME,
    becomes,
    facts,
    place,
    visible,
    yaml_place,
)
from compiler.migration.result import Migration, Note


def report(migration: Migration) -> str:
    return "\n".join(_lines(migration)) + "\n"


def _lines(migration: Migration, task: str = "") -> Iterator[str]:
    yield f"## {_code(migration.path)}" + (f", task {_code(task)}" if task else "")
    yield ""
    yield f"{becomes(migration).capitalize()}."
    if migration.entries:
        yield ""
        yield "| line | directive | outcome | becomes | why | code |"
        yield "|---:|---|---|---|---|---|"
        for entry in migration.entries:
            where = f" (line {entry.yaml_line})" if entry.yaml_line else ""
            became = f"{_code(yaml_place(entry.path))}{where}" if entry.path else ""
            cells = (
                place(entry.line),
                _code(entry.directive),
                OUTCOME[entry.outcome],
                became,
                _cell(entry.message),
                f"`{entry.code}`",
            )
            yield f"| {' | '.join(cells)} |"
    yield from _notes("Why it is kept", migration.reasons)
    yield from _notes("Notes", migration.notes)
    if migration.secrets:
        yield ""
        yield "### Secrets"
        yield ""
        for secret in migration.secrets:
            where = ", ".join(map(str, secret.lines))
            yield f"* `{secret.name}` (line {where}); its value is written nowhere"
    if migration.edits:
        yield ""
        yield "### Changed in the text"
        yield ""
        for edit in migration.edits:
            yield f"* line {edit.line}: {_code(edit.before)} → {_code(edit.after)}"
    rows = list(facts(migration))
    if rows:
        yield ""
        yield "### What it needs"
        yield ""
        yield "| kind | what | lines |"
        yield "|---|---|---|"
        for kind, text, lines in rows:
            yield f"| {kind} | {_code(text)} | {', '.join(map(str, lines[:8]))} |"
    for part in migration.parts:
        yield ""
        yield from _lines(part, part.name)


def _notes(title: str, notes: Iterable[Note]) -> Iterator[str]:
    notes = list(notes)
    if not notes:
        return
    yield ""
    yield f"### {title}"
    yield ""
    for note in notes:
        line = f"line {place(note.line)}: " if note.line is not None else ""
        hint = f" {_cell(note.hint)}" if note.hint else ""
        yield f"* {line}{_cell(note.message)} (`{note.code}`){hint}"


def _cell(text: str) -> str:
    """Text in a table cell or a list: structure of markdown has no meaning in it."""
    escaped = visible(text).replace("\\", "\\\\").replace("|", "\\|")
    return escaped.replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def _code(text: str) -> str:
    """A code span, whatever backticks the text has."""
    shown = visible(text).replace("|", "\\|")
    if not shown:
        return ""
    fence = "`"
    while fence in shown:
        fence += "`"
    blank = " " if shown.startswith("`") or shown.endswith("`") else ""
    return f"{fence}{blank}{shown}{blank}{fence}"
