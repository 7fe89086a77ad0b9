"""A schema as one file, for editors and validators that have no other file of ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from compiler.source.schemas import schema

_OTHER = re.compile(r"([a-z]+)\.schema\.json#?(.*)")


def bundled(name: str) -> dict[str, Any]:
    """The schema of this name with all that it refers to in its `$defs`, as `NAME.schema`.

    Nothing in it leads out of it; the texts and the order are those of the schemas. Raises
    KeyError where there is no such schema.
    """
    whole = _local(schema(name), "", name)
    others = _others(name, {name})
    definitions = {**whole.get("$defs", {})}
    for other in sorted(others):
        content = _local(schema(other), f"/$defs/{other}.schema", name)
        definitions[f"{other}.schema"] = {
            key: value for key, value in content.items() if key not in ("$id", "$schema")
        }
    return {**whole, "$defs": definitions} if definitions else whole


def _local(node: Any, place: str, whole: str) -> Any:
    """A copy in which references lead to where the schemas stand in the bundle of `whole`."""
    if isinstance(node, list):
        return [_local(item, place, whole) for item in node]
    if not isinstance(node, dict):
        return node
    copy = {key: _local(value, place, whole) for key, value in node.items()}
    reference = node.get("$ref")
    if isinstance(reference, str):
        copy["$ref"] = _moved(reference, place, whole)
    return copy


def _moved(reference: str, place: str, whole: str) -> str:
    if reference.startswith("#"):
        return f"#{place}{reference[1:]}"
    match = _OTHER.fullmatch(reference)
    assert match is not None, reference
    return f"#{match[2]}" if match[1] == whole else f"#/$defs/{match[1]}.schema{match[2]}"


def _others(name: str, seen: set[str]) -> set[str]:
    """The names of the schemas that one leads to, directly or by others."""
    found: set[str] = set()
    for reference in _references(schema(name)):
        match = _OTHER.fullmatch(reference)
        if match and match[1] not in seen:
            seen.add(match[1])
            found |= {match[1]} | _others(match[1], seen)
    return found


def _references(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for item in node:
            yield from _references(item)
    elif isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from _references(value)
