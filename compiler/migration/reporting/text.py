"""The report for a terminal or a log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from compiler.migration.reporting.wording import (
    OUTCOME,
    becomes,
    facts,
    place,
    visible,
    yaml_place,
)
from compiler.migration.result import Migration, Note, Status


def report(migration: Migration) -> str:
    """Everything about one script; lines of the script first, of the YAML last."""
    return "\n".join(_lines(migration)) + "\n"


def _lines(migration: Migration, task: str = "") -> Iterator[str]:
    moves = migration.target != "slurm" and migration.status is Status.TRANSLATED
    target = f" (to {migration.target})" if moves else ""
    yield f"{visible(migration.path)}: {becomes(migration)}{target}"
    if migration.entries:
        yield ""
        yield "directives"
        rows = []
        for entry in migration.entries:
            where = f"line {entry.yaml_line}" if entry.yaml_line else ""
            became = yaml_place(entry.path)
            rows.append(
                (
                    place(entry.line),
                    visible(entry.directive),
                    OUTCOME[entry.outcome],
                    f"{became} {f'({where})' if where else ''}".strip(),
                    visible(entry.message),
                    f"[{entry.code}]",
                )
            )
        yield from _table(rows)
    yield from _notes("why it is kept", migration.reasons)
    yield from _notes("notes", migration.notes)
    if migration.secrets:
        yield ""
        yield "secrets (the values are written nowhere)"
        for secret in migration.secrets:
            lines = ", ".join(map(str, secret.lines))
            done = "hand it over with --secret" if secret.taken_out else "take it out by hand"
            if secret.taken_out and not secret.in_use:
                done = "only in a comment, taken out"
            yield f"  {secret.name}  line {lines}: {done}"
    if migration.edits:
        yield ""
        yield "changed in the text"
        for edit in migration.edits:
            after = f"`{visible(edit.after)}`" if edit.after else "nothing"
            change = f"`{visible(edit.before)}` -> {after}"
            yield f"  {edit.line}: {change} [{edit.code}]"
    needs = [(kind, text, ", ".join(map(str, lines[:8]))) for kind, text, lines in facts(migration)]
    if needs:
        yield ""
        yield "what it needs"
        yield from _table(needs)
    for part in migration.parts:
        yield ""
        yield f"task {part.name}"
        yield from (f"  {line}".rstrip() for line in _lines(part, part.name))
    if migration.undecided and not task:
        yield ""
        yield f"{migration.undecided} decision{'s' * (migration.undecided != 1)} to make"


def _notes(title: str, notes: Iterable[Note]) -> Iterator[str]:
    notes = list(notes)
    if not notes:
        return
    yield ""
    yield title
    said: set[tuple[str, str]] = set()
    for note in notes:
        line = f"{place(note.line)}: " if note.line is not None else ""
        yield f"  {line}{visible(note.message)} [{note.code}]"
        if note.hint and (note.code, note.hint) not in said:
            yield f"      {visible(note.hint)}"
        said.add((note.code, note.hint))


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = [cell.ljust(min(width, 48)) for cell, width in zip(row, widths, strict=True)]
        yield ("  " + "  ".join(cells)).rstrip()
