"""Tasks that are there already, and that people have edited since: brought up to date.

What comes from directives follows the script. Everything else is theirs and stays, byte for
byte where ruamel.yaml can: comments, decisions, keys that no directive writes, and `run`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import yaml

from compiler.diagnostics.codes import migration as codes
from compiler.migration.composing import is_plain, loader
from compiler.migration.demands import UNKNOWN
from compiler.migration.notes import note_of
from compiler.migration.result import Migration, Note, Outcome, Path

_OPTIONS: Path = ("config", "slurm", "sbatch_options")
_FOLLOWS = (Outcome.FIELD, Outcome.SBATCH_OPTIONS, Outcome.TRANSLATED)


def updated(text: str, migration: Migration, place: str) -> tuple[str, tuple[Note, ...]]:
    """(`text` with what the directives say now, what is to be said about it). Unchanged, with
    the reason, where that cannot be done; `place` is the file's name."""
    assert migration.yaml is not None
    if migration.parts:
        return text, (_left(place, "it has several tasks"),)
    try:
        before = yaml.load(text, Loader=loader())
    except yaml.YAMLError:
        return text, (_left(place, "it cannot be read"),)
    wanted = yaml.load(migration.yaml, Loader=loader())
    if not isinstance(before, dict):
        return text, (_left(place, "it is no task"),)
    if ("run" in before) != ("run" in wanted):
        kind = "kept" if "run" in before else "translated"
        return text, (_left(place, f"the script would be {kind} now"),)
    edits = dict(_edits(before, wanted, migration))
    notes = tuple(_differences(before, wanted, place))
    if not edits:
        return text, notes
    edited = _edited(text, edits)
    for path, value in edits.items():
        _put(before, path, value)
    if yaml.load(edited, Loader=loader()) != before:
        return text, (_left(place, "an editor cannot keep it as it is"),)
    changed = ", ".join(".".join(path) for path in edits)
    return edited, (note_of(codes.UPDATED, None, f"{place}: {changed}", ""), *notes)


def _left(place: str, why: str) -> Note:
    return note_of(codes.EXISTS, None, f"{place} is left as it is: {why}")


def _edits(before: Any, wanted: Any, migration: Migration) -> Iterator[tuple[Path, object]]:
    """The values to be set, by path."""
    for entry in migration.entries:
        path = entry.path
        if path is None or path == ("run",):
            continue
        old, new = _get(before, path), _get(wanted, path)
        if new is None or old == new:
            continue
        is_decided = entry.outcome is Outcome.DECISION and old is not None
        if not is_decided and (entry.outcome in _FOLLOWS or old is None):
            yield path, new


def _differences(before: Any, wanted: Any, place: str) -> Iterator[Note]:
    """What stays although the script says something else."""
    if before.get("run") != wanted.get("run"):
        text = f"{place}: `run` is not the script's text, and stays"
        yield note_of(codes.EXISTS, None, text)
    ours, theirs = (_get(task, _OPTIONS) or {} for task in (before, wanted))
    for name in sorted(ours.keys() - theirs.keys()):
        text = f"{place}: no directive asks for `{name}` of `sbatch_options`, and it stays"
        yield note_of(codes.EXISTS, None, text)
    path = ("resources", "accelerators")
    ours, theirs = (str(_get(task, path) or "") for task in (before, wanted))
    if theirs.startswith(UNKNOWN) and ours and not ours.startswith(UNKNOWN):
        text = f"{place}: `accelerators: {ours}` was decided on, and stays"
        yield note_of(codes.EXISTS, None, text, "")


def _get(task: Any, path: Path) -> Any:
    for step in path:
        if not isinstance(task, dict) or step not in task:
            return None
        task = task[step]
    return task


def _put(task: Any, path: Path, value: object) -> None:
    for step in path[:-1]:
        task = task.setdefault(step, type(task)())
    task[path[-1]] = value


def _edited(text: str, edits: dict[Path, object]) -> str:
    from ruamel.yaml import YAML
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString

    editor = YAML()
    editor.preserve_quotes = True
    editor.width = 1 << 20
    task = editor.load(text)
    for path, value in edits.items():
        if isinstance(value, str) and not is_plain(value):
            value = DoubleQuotedScalarString(value)
        _put(task, path, value)
    out = io.StringIO()
    editor.dump(task, out)
    return out.getvalue()
