"""Results of several tasks as one file: pipelines (in turn) and groups (side by side)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from compiler.migration.composing import compose
from compiler.migration.draft import task_name
from compiler.migration.result import Migration, Status

_HEADER = "group"  # the schema of the first document, a pipeline's as well
_SEPARATOR = "---\n"


def joined(
    whole: Migration, header: dict[str, Any], comments: list[str], parts: Sequence[Migration]
) -> Migration:
    """`whole` with the parts, which all have a task, as one file behind `header`."""
    head, _ = compose(header, comments, {}, _HEADER)
    text, placed = head, []
    for part in parts:
        assert part.yaml is not None
        text += _SEPARATOR
        placed.append(_moved_down(part, text.count("\n")))
        text += part.yaml
    smoke = None
    if all(part.smoke is not None for part in parts):
        name = {**header, "name": f"{header['name']}-smoke"}
        if "primary_tasks" in name:
            name["primary_tasks"] = [f"{task}-smoke" for task in header["primary_tasks"]]
        small = [compose(name, comments, {}, _HEADER)[0], *(part.smoke or "" for part in parts)]
        smoke = _SEPARATOR.join(small)
    kept = any(part.status is Status.KEPT for part in parts)
    return replace(
        whole,
        status=Status.KEPT if kept else Status.TRANSLATED,
        name=str(header["name"]),
        parts=tuple(placed),
        yaml=text,
        smoke=smoke,
    )


def _moved_down(part: Migration, lines: int) -> Migration:
    """The part with its lines counted in the file, in which so many stand before it."""
    entries = tuple(
        replace(entry, yaml_line=entry.yaml_line + lines) if entry.yaml_line else entry
        for entry in part.entries
    )
    return replace(part, entries=entries)


def group_name(text: str) -> str:
    """`text` as the name of a group, which is part of host names."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", task_name(text))[:50].strip("-_") or "job"
