"""What a field is, from the schema and the targets' support tables: never a second copy."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

from compiler.diagnostics import WrongUsage
from compiler.model import TargetKind
from compiler.source import field_names, field_schema, suggest
from compiler.targets.interface import Support
from compiler.targets.registry import target_of

_KINDS = ("task", "volume", "group", "stack", "config")


@dataclass(frozen=True, slots=True)
class Explanation:
    """One field: its sub-schema and, for fields of a task, a support row a target."""

    field: str
    schema: dict
    support: tuple[tuple[str, Support], ...]

    @property
    def description(self) -> list[str]:
        return textwrap.wrap(self.schema.get("description", ""), 90)

    def facts(self) -> Iterator[tuple[str, str]]:
        """(label, text) pairs: type, allowed values, default, example."""
        yield "type", type_of(self.schema)
        if "enum" in self.schema:
            yield "values", ", ".join(str(item) for item in self.schema["enum"])
        if "default" in self.schema:
            yield "default", json.dumps(self.schema["default"])
        for example in self.schema.get("examples", [])[:3]:
            yield "example", example if isinstance(example, str) else json.dumps(example)
        if "properties" in self.schema:
            yield "fields", ", ".join(self.schema["properties"])

    def to_json(self) -> dict[str, object]:
        return {
            "field": self.field,
            "description": self.schema.get("description", ""),
            "type": type_of(self.schema),
            "default": self.schema.get("default"),
            "examples": self.schema.get("examples", []),
            "support": {
                kind: {"level": str(row.level), "note": row.note} for kind, row in self.support
            },
        }


def explain(field: str) -> Explanation:
    """The field by its dotted name (`resources.cpus`, `stack:targets`); WrongUsage if unknown."""
    kind, colon, dotted = field.partition(":")
    if not colon:
        kind, dotted = "task", field
    if kind not in _KINDS:
        raise WrongUsage(f"no kind {kind!r}; there are {', '.join(_KINDS)}")
    try:
        schema = field_schema(kind, dotted)
    except KeyError:
        close = suggest(dotted, field_names(kind))
        hint = f"; did you mean `{close}`?" if close else ""
        raise WrongUsage(f"the {kind} schema has no field `{dotted}`{hint}") from None
    support = []
    if kind == "task":
        for target_kind in TargetKind:
            row = target_of(target_kind).support.get(dotted)
            if row is not None:
                support.append((str(target_kind), row))
    return Explanation(field, schema, tuple(support))


def type_of(schema: dict) -> str:
    """The JSON types that a sub-schema admits, in words."""
    if "type" in schema:
        kinds = schema["type"]
        return " or ".join(kinds) if isinstance(kinds, list) else kinds
    for word in ("anyOf", "oneOf"):
        if word in schema:
            return " or ".join(dict.fromkeys(type_of(branch) for branch in schema[word]))
    if "enum" in schema or "const" in schema or "pattern" in schema:
        return "string"
    return "any"
