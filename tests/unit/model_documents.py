"""Building the model of a YAML text, and findings as `line:column code`."""

from __future__ import annotations

from typing import Any

from compiler.catalog import by_memory
from compiler.diagnostics import Diagnostics
from compiler.model import (
    Group,
    Overrides,
    Pipeline,
    Resources,
    Stack,
    Task,
    Volume,
    build_group,
    build_pipeline,
    build_stack,
    build_task,
    build_volume,
)
from compiler.source import Kind, detect, read_text

HOME = "/home/me"


def devices(gib: float, at_least: bool, maker: str | None) -> tuple[str, ...]:
    """The devices of the catalogue with that much memory."""
    return by_memory(f"{gib:g}GB{'+' * at_least}", maker) or ()


def findings(diagnostics: Diagnostics) -> list[str]:
    """`line:column code` of each diagnostic, in the order of the text."""
    return [
        f"{item.span.line}:{item.span.column} {item.code}" if item.span else item.code
        for item in diagnostics.sorted()
    ]


def built_task(text: str, **options: Any) -> tuple[Task | None, Diagnostics]:
    diagnostics = Diagnostics()
    (document,) = read_text(text, "task.yaml", diagnostics)
    options = {"environ": {"HOME": HOME}, "lookup": devices, **options}
    return build_task(document, diagnostics, **options), diagnostics


def task_of(text: str, **options: Any) -> Task:
    """The task of a text that is right in every way but for warnings of the reader."""
    task, diagnostics = built_task(text, **options)
    assert task is not None, [item.message for item in diagnostics]
    return task


def task_findings(text: str, *, inline_secrets: bool = False, **options: Any) -> list[str]:
    """Findings of a task; the warning of secrets in the text only where a test is about it."""
    task, diagnostics = built_task(text, **options)
    assert (task is None) == diagnostics.has_errors
    found = findings(diagnostics)
    return found if inline_secrets else [item for item in found if "secret-inline" not in item]


def messages(text: str, **options: Any) -> list[str]:
    return [item.message for item in built_task(text, **options)[1].sorted()]


def candidates(resources: str, **options: Any) -> tuple[Resources, ...]:
    """The candidates of a task with nothing but this `resources` value."""
    return task_of(f"resources: {resources}", **options).resources.candidates


def candidate(resources: str, **options: Any) -> Resources:
    (only,) = candidates(resources, **options)
    return only


def built_file(
    text: str, label: str = "file.yaml", overrides: Overrides | None = None
) -> tuple[Any, list[str]]:
    """What a file of any kind becomes, and the findings."""
    diagnostics = Diagnostics()
    unit = detect(read_text(text, label, diagnostics), diagnostics)
    result: Task | Group | Pipeline | Volume | Stack | None
    options: dict[str, Any] = {"environ": {}, "overrides": overrides}
    if unit.kind is Kind.STACK:
        result = build_stack(unit.documents[0], diagnostics)
    elif unit.kind is Kind.VOLUME:
        result = build_volume(unit.documents[0], diagnostics)
    elif unit.kind is Kind.GROUP:
        assert unit.header is not None
        result = build_group(unit.header, unit.documents, diagnostics, **options)
    elif unit.kind is Kind.PIPELINE:
        result = build_pipeline(unit.header, unit.documents, diagnostics, **options)
    else:
        result = build_task(unit.documents[0], diagnostics, **options)
    assert (result is None) == diagnostics.has_errors
    return result, findings(diagnostics)
