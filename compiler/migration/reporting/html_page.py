"""The report as one page that needs nothing else: no script, no style from elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from html import escape

from compiler.migration.reporting.summary import Summary
from compiler.migration.reporting.wording import (
    OUTCOME,
    becomes,
    facts,
    place,
    visible,
    yaml_place,
)
from compiler.migration.result import Migration, Note

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem}"
    "table{border-collapse:collapse;margin:.5rem 0}td,th{border:1px solid #ccc;padding:.2rem .5rem;"
    "text-align:left;vertical-align:top}code{background:#f3f3f3}summary{cursor:pointer}"
    ".decision{background:#fff3cd}.dropped{background:#f8d7da}"
)


def page(migrations: Iterable[Migration], summary: Summary) -> Iterator[str]:
    """The page, piece by piece, so that thousands of scripts need no memory."""
    yield "<!doctype html><html lang=en><meta charset=utf-8>"
    yield f"<title>Migration</title><style>{_STYLE}</style><h1>Migration</h1>"
    for migration in migrations:
        summary.add(migration)
        yield "".join(_script(migration))
    yield "<h1>Summary</h1><table><tr><th>outcome<th>scripts"
    for name, count in summary.statuses():
        yield f"<tr><td>{escape(name)}<td>{count}"
    yield "</table></html>\n"


def _script(migration: Migration) -> Iterator[str]:
    yield f"<details><summary><code>{_text(migration.path)}</code> "
    yield f"{_text(becomes(migration))}</summary>"
    if migration.entries:
        yield "<table><tr><th>line<th>directive<th>outcome<th>becomes<th>why<th>code"
        for entry in migration.entries:
            where = f" (line {entry.yaml_line})" if entry.yaml_line else ""
            yield (
                f"<tr class={entry.outcome}><td>{place(entry.line)}"
                f"<td><code>{_text(entry.directive)}</code><td>{OUTCOME[entry.outcome]}"
                f"<td>{_text(yaml_place(entry.path))}{where}"
                f"<td>{_text(entry.message)}<td>{entry.code}"
            )
        yield "</table>"
    yield from _notes("Why it is kept", migration.reasons)
    yield from _notes("Notes", migration.notes)
    rows = list(facts(migration))
    if rows:
        yield "<table><tr><th>needs<th>what<th>lines"
        for kind, text, lines in rows:
            yield f"<tr><td>{kind}<td>{_text(text)}<td>{', '.join(map(str, lines[:8]))}"
        yield "</table>"
    for part in migration.parts:
        yield f"<h3>Task {_text(part.name)}</h3>"
        yield from _script(replace(part, yaml=None))
    if migration.yaml is not None:
        yield f"<pre>{escape(migration.yaml)}</pre>"
    yield "</details>\n"


def _notes(title: str, notes: Iterable[Note]) -> Iterator[str]:
    notes = list(notes)
    if not notes:
        return
    yield f"<h3>{title}</h3><ul>"
    for note in notes:
        line = f"line {place(note.line)}: " if note.line is not None else ""
        yield f"<li>{line}{_text(note.message)} <code>{note.code}</code> {_text(note.hint)}"
    yield "</ul>"


def _text(text: str) -> str:
    return escape(visible(text))
