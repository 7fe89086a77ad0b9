"""What a field is, from the schema and the targets' support tables: never a second copy."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compiler.diagnostics import WrongUsage
from compiler.model import TargetKind
from compiler.source import field_cases, field_names, field_schema, has_free_keys, suggest
from compiler.source import schema as schema_of
from compiler.targets.interface import Support
from compiler.targets.registry import target_of

_KINDS = ("task", "volume", "group", "stack", "config")


@dataclass(frozen=True, slots=True)
class Explanation:
    """One field: its sub-schema and, for fields of a task, the targets' support rows.

    A row of an enclosing field (`service` for `service.replicas`) holds for the field as well.
    `below` are the fields that stand below it, by the case in which they do (empty: always).
    """

    field: str
    schema: dict
    support: tuple[tuple[str, Support], ...]
    below: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def description(self) -> list[str]:
        return textwrap.wrap(self.schema.get("description", ""), 90)

    def facts(self) -> Iterator[tuple[str, str]]:
        """(label, text) pairs: type, allowed values, default, examples, fields below.

        Where there is no default, a field that is not given asks for nothing; defaults that
        depend on the target stand in the description.
        """
        yield "type", type_of(self.schema)
        if "enum" in self.schema:
            yield "values", ", ".join(str(item) for item in self.schema["enum"])
        if "default" in self.schema:
            yield "default", json.dumps(self.schema["default"])
        elif "Default:" not in self.schema.get("description", "") and self.field[-1:] != ":":
            yield "default", "none"
        for example in self.schema.get("examples", [])[:3]:
            yield "example", example if isinstance(example, str) else json.dumps(example)
        each = "" if "properties" in self.schema else " of each item"
        for case, names in self.below:
            yield f"fields{each}" + (f" with `{case}`" if case else ""), ", ".join(names)

    def to_json(self) -> dict[str, object]:
        return {
            "field": self.field,
            "description": self.schema.get("description", ""),
            "type": type_of(self.schema),
            "default": self.schema.get("default"),
            "examples": self.schema.get("examples", []),
            "fields": [{"case": case, "names": list(names)} for case, names in self.below],
            "support": {
                str(kind): [
                    {"field": row.field, "level": str(row.level), "note": row.note}
                    for target, row in self.support
                    if target == kind
                ]
                for kind in dict(self.support)
            },
        }


def explain(field: str) -> Explanation:
    """The field by its dotted name; WrongUsage if unknown.

    `resources.cpus` is one of a task, `stack:targets` of a stack, `stack:` the stack itself. The
    key of a map may be left out (`stack:targets.version`).
    """
    kind, colon, dotted = field.partition(":")
    if not colon:
        kind, dotted = "task", field
    if kind not in _KINDS:
        raise WrongUsage(f"no kind {kind!r}; there are {', '.join(_KINDS)}")
    if colon and not dotted:
        return Explanation(field, schema_of(kind), (), _below(kind, ""))
    try:
        dotted = _with_keys(kind, dotted)
        schema = field_schema(kind, dotted)
    except KeyError:
        close = suggest(dotted, field_names(kind))
        hint = f"; did you mean `{close}`?" if close else ""
        raise WrongUsage(f"the {kind} schema has no field `{dotted}`{hint}") from None
    support: list[tuple[str, Support]] = []
    if kind == "task":
        for target_kind in TargetKind:
            rows = _rows(target_of(target_kind).support, dotted)
            support += [(str(target_kind), row) for row in rows]
    return Explanation(field, schema, tuple(support), _below(kind, dotted))


def _with_keys(kind: str, dotted: str) -> str:
    """The name with `KEY` where a map of names is passed over: `targets.version`."""
    made = ""
    for step in dotted.split("."):
        if made and has_free_keys(field_schema(kind, made)):
            below = (name for _, names in field_cases(kind, made) for name in names)
            if step in below:
                made += ".KEY"
        made += f".{step}" if made else step
    return made


def _below(kind: str, dotted: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    return tuple((case, tuple(names)) for case, names in field_cases(kind, dotted))


def _rows(table: Mapping[str, Support], field: str) -> list[Support]:
    """The rows about a field in all its cases; where there are none, those of what it is in."""
    for choice in ("resources.any_of.", "resources.ordered."):
        if field.startswith(choice):
            field = "resources." + field.removeprefix(choice)
    while field:
        found = [row for row in table.values() if row.field.partition(" (")[0] == field]
        if found:
            return found
        field = field.rpartition(".")[0]
    return []


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
