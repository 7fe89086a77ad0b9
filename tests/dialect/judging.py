"""What triplane says about a text, in the terms of the oracle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from compiler import model
from compiler.catalog import by_memory
from compiler.diagnostics import Diagnostic, Diagnostics, Severity
from compiler.model import Overrides
from compiler.source import Kind, detect, read_text
from tests.dialect.our_meaning import document_meaning


@dataclass(frozen=True, slots=True)
class Judgement:
    """`meaning` is None where the text is refused."""

    meaning: dict[str, Any] | None
    found: tuple[Diagnostic, ...]
    kind: Kind

    @property
    def accepted(self) -> bool:
        return self.meaning is not None

    @property
    def errors(self) -> list[Diagnostic]:
        return [item for item in self.found if item.severity is Severity.ERROR]


def judge(text: str, env: Mapping[str, str] | None = None) -> Judgement:
    """Whether the text is taken, without looking at files, and what it means."""
    found = Diagnostics()
    documents = read_text(text, "text.yaml", found)
    unit = detect(documents, found)
    built: object = None
    if unit.documents:
        built = _build(unit, found, tuple((env or {}).items()))
    if found.has_errors or built is None:
        return Judgement(None, tuple(found), unit.kind)
    return Judgement(document_meaning(built), tuple(found), unit.kind)


def _build(unit, found: Diagnostics, env: tuple[tuple[str, str], ...]) -> object:
    options: dict[str, Any] = {
        "overrides": Overrides(env=env),
        "environ": {"HOME": "/home/user"},
        "lookup": _devices,
    }
    if unit.kind is Kind.STACK:
        return model.build_stack(unit.documents[0], found)
    if unit.kind is Kind.VOLUME:
        return model.build_volume(unit.documents[0], found)
    if unit.kind is Kind.TASK:
        return model.build_task(unit.documents[0], found, **options)
    build = model.build_group if unit.kind is Kind.GROUP else model.build_pipeline
    return build(unit.header, unit.documents, found, **options)


def _devices(gib: float, at_least: bool, maker: str | None):
    return by_memory(f"{gib:g}GB{'+' * at_least}", maker) or ()
