"""The report as one page that needs nothing else: no script, no style from elsewhere."""

from __future__ import annotations

import re
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
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:75rem;padding:0 1rem;"
    "color:#1b1f24;background:#fff}"
    "table{border-collapse:collapse;margin:.5rem 0}td,th{border:1px solid #d0d4d9;"
    "padding:.2rem .5rem;text-align:left;vertical-align:top}th{background:#f3f5f7}"
    "code{background:#f0f1f3;padding:0 .2rem;border-radius:3px;overflow-wrap:anywhere}"
    "details{border-bottom:1px solid #e3e6e9;padding:.3rem 0}details details{border:0}"
    "summary{cursor:pointer}h3{margin:.8rem 0 .2rem;font-size:1rem}ul{margin:.2rem 0}"
    ".badge{display:inline-block;min-width:6rem;text-align:center;border-radius:3px;"
    "padding:0 .4rem;background:#e3e6e9}.translated{background:#d3efda}.kept{background:#dbe9fb}"
    ".decision,.by-hand{background:#fff0c2}.dropped{background:#f2f2f2}"
    ".refused,.unreadable{background:#fbdcdc}.hint{color:#5b6470}"
    "pre{background:#f7f8f9;padding:.5rem;overflow-x:auto;counter-reset:line}"
    "pre span::before{counter-increment:line;content:counter(line);display:inline-block;"
    "width:2.5rem;margin-right:.8rem;text-align:right;color:#8b949e}"
    ".numbers td:nth-child(n+2){text-align:right}"
)
_CODE = re.compile(r"`([^`]+)`")


def page(migrations: Iterable[Migration], summary: Summary) -> Iterator[str]:
    """The page, piece by piece, so that thousands of scripts need no memory."""
    yield "<!doctype html><html lang=en><meta charset=utf-8>"
    yield "<meta name=viewport content='width=device-width'>"
    yield f"<title>Migration</title><style>{_STYLE}</style><h1>Migration</h1>"
    yield "<p><a href='#summary'>Summary</a></p>\n"
    for migration in migrations:
        summary.add(migration)
        yield "".join(_script(migration))
    yield "<h1 id=summary>Summary</h1>"
    for title, rows in summary.tables():
        yield f"<h3>{_text(title)}</h3><table class=numbers>"
        for row in rows:
            yield "<tr>" + "".join(f"<td>{_text(str(cell))}" for cell in row)
        yield "</table>"
    yield "</html>\n"


def _script(migration: Migration) -> Iterator[str]:
    status = escape(str(migration.status))
    yield f"<details><summary><span class='badge {status}'>{status}</span> "
    yield f"<code>{escape(visible(migration.path))}</code> {_text(becomes(migration))}"
    if migration.undecided:
        count = migration.undecided
        yield f" <span class='badge decision'>{count} to decide</span>"
    yield "</summary>"
    if migration.entries:
        yield "<table><tr><th>line<th>directive<th>outcome<th>becomes<th>why<th>code"
        for entry in migration.entries:
            where = f" (line {entry.yaml_line})" if entry.yaml_line else ""
            yield (
                f"<tr class={entry.outcome}><td>{place(entry.line)}"
                f"<td><code>{escape(visible(entry.directive))}</code><td>{OUTCOME[entry.outcome]}"
                f"<td>{escape(visible(yaml_place(entry.path)))}{where}"
                f"<td>{_text(entry.message)}<td>{entry.code}"
            )
        yield "</table>"
    yield from _notes("Why it is kept", migration.reasons)
    yield from _notes("Notes", migration.notes)
    yield from _secrets(migration)
    yield from _edits(migration)
    rows = list(facts(migration))
    if rows:
        yield "<h3>What it needs</h3><table><tr><th>kind<th>what<th>lines"
        for kind, text, lines in rows:
            numbers = ", ".join(map(str, lines[:8]))
            yield f"<tr><td>{kind}<td>{escape(visible(text))}<td>{numbers}"
        yield "</table>"
    for part in migration.parts:
        yield f"<h3>Task {escape(visible(part.name))}</h3>"
        yield from _script(replace(part, yaml=None))
    if migration.yaml is not None:
        yield "<h3>YAML</h3><pre>"
        for line in migration.yaml.rstrip("\n").split("\n"):
            yield f"<span>{escape(line)}</span>\n"
        yield "</pre>"
    yield "</details>\n"


def _notes(title: str, notes: Iterable[Note]) -> Iterator[str]:
    notes = list(notes)
    if not notes:
        return
    yield f"<h3>{title}</h3><ul>"
    for note in notes:
        line = f"line {place(note.line)}: " if note.line is not None else ""
        yield f"<li>{line}{_text(note.message)} <code>{note.code}</code>"
        yield f" <span class=hint>{_text(note.hint)}</span>"
    yield "</ul>"


def _secrets(migration: Migration) -> Iterator[str]:
    if not migration.secrets:
        return
    yield "<h3>Secrets (the values are written nowhere)</h3><ul>"
    for secret in migration.secrets:
        lines = ", ".join(map(str, secret.lines))
        done = "hand it over with --secret" if secret.taken_out else "take it out by hand"
        if secret.taken_out and not secret.in_use:
            done = "only in a comment, taken out"
        yield f"<li><code>{escape(secret.name)}</code> line {lines}: {done}"
    yield "</ul>"


def _edits(migration: Migration) -> Iterator[str]:
    if not migration.edits:
        return
    yield "<h3>Changed in the text</h3><table><tr><th>line<th>before<th>after"
    for edit in migration.edits:
        yield (
            f"<tr><td>{edit.line}<td><code>{escape(visible(edit.before))}</code>"
            f"<td><code>{escape(visible(edit.after))}</code>"
        )
    yield "</table>"


def _text(text: str) -> str:
    """Text of ours, in which backticks mark code."""
    return _CODE.sub(r"<code>\1</code>", escape(visible(text)))
