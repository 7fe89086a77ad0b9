"""The JSON Schemas: loading, following references, finding the schema of one field."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

from compiler.resources import data_folder

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

_SUFFIX = ".schema.json"
_BASE = "https://triplane.dev/schemas/"
_DEEPEST = 8
_index = re.compile(r"\[[^\]]*\]")


@cache
def schema_names() -> list[str]:
    """The names of all schemas (`task`, `volume`, ...), sorted."""
    return sorted(path.name.removesuffix(_SUFFIX) for path in data_folder("schemas").glob("*.json"))


@cache
def schema(name: str) -> dict[str, Any]:
    """The schema of this name. It is shared: nobody may change it.

    Raises KeyError where there is none.
    """
    if name not in schema_names():
        raise KeyError(name)
    text = (data_folder("schemas") / f"{name}{_SUFFIX}").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@cache
def validator(name: str, definition: str | None = None) -> Draft202012Validator:
    """The validator for a schema, or for one of its `$defs`; built once.

    Raises KeyError where there is no such schema or definition.
    """
    from jsonschema import Draft202012Validator

    if definition is None:
        return Draft202012Validator(schema(name), registry=_registry())
    if definition not in schema(name)["$defs"]:
        raise KeyError(definition)
    reference = {"$ref": f"{_BASE}{name}{_SUFFIX}#/$defs/{definition}"}
    return Draft202012Validator(reference, registry=_registry())


@cache
def _registry() -> Any:
    """All schemas by their addresses; nothing is ever fetched."""
    from referencing import Registry, Resource

    resources = []
    for name in schema_names():
        resource = Resource.from_contents(schema(name))
        resources.append((f"{_BASE}{name}{_SUFFIX}", resource))
    return Registry().with_resources(resources).crawl()


Node = tuple[str, dict[str, Any]]
"""A sub-schema with the name of the schema it stands in, which its references start from."""


def resolved(node: Node) -> Node:
    """The sub-schema behind `$ref`; keywords beside the reference win over the ones behind."""
    name, content = node
    while "$ref" in content:
        beside = {key: value for key, value in content.items() if key != "$ref"}
        name, target = target_of(name, content["$ref"])
        content = {**target, **beside}
    return name, content


def target_of(name: str, reference: str) -> Node:
    """What a `$ref` in the schema `name` points to."""
    file, _, pointer = reference.partition("#")
    if file:
        name = file.removeprefix(_BASE).removesuffix(_SUFFIX)
    target: Any = schema(name)
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        target = target[int(key) if isinstance(target, list) else key]
    return name, target


def node_at(root: Node, error_path: Iterable[str | int], content: dict[str, Any]) -> Node:
    """`content` with the name of the schema that it stands in.

    `error_path` are the keywords that lead to it, as jsonschema reports them: without `$ref`.
    """
    name: str = root[0]
    part: Any = root[1]  # a map of keywords or fields, or a list of branches
    for step in error_path:
        while isinstance(part, dict) and step not in part and "$ref" in part:
            name, part = target_of(name, part["$ref"])
        part = part[step]
    while part is not content and isinstance(part, dict) and "$ref" in part:
        name, part = target_of(name, part["$ref"])
    return name, content


def field_node(root: Node, path: Iterable[str | int]) -> Node | None:
    """The sub-schema for the value at a path of the data."""
    node: Node | None = root
    for step in path:
        if node is not None and isinstance(step, str):
            node = _child(node, step)
    return node and resolved(node)


def field_schema(name: str, dotted: str) -> dict[str, Any]:
    """The sub-schema of a field by its dotted name (`resources.any_of.cpus`), references followed.

    Items of lists need no step of their own (`[0]` is allowed), keys of free maps are any
    word. Raises KeyError where the schema has no such field.
    """
    node: Node = (name, schema(name))
    for step in _index.sub("", dotted).split("."):
        below = _child(node, step)
        if below is None:
            raise KeyError(dotted)
        node = below
    return resolved(node)[1]


def field_cases(name: str, dotted: str) -> list[tuple[str, list[str]]]:
    """What stands below a field: (in which case, the names), the case empty for always.

    Of a list, and of a map with free keys, it is what stands below each of its items. An empty
    name is the whole document. Raises KeyError where the schema has no such field.
    """
    content = field_schema(name, dotted) if dotted else schema(name)
    if has_free_keys(content):
        content = field_schema(name, f"{dotted}.KEY")
    elif isinstance(content.get("items"), dict):
        content = resolved((name, content["items"]))[1]
    found = [("", _shown_properties(content))]
    for part in content.get("allOf", ()):
        asked = part.get("if", {}).get("properties", {})
        for key, value in asked.items():
            if "const" in value and "then" in part:
                names = _shown_properties(resolved((name, part["then"]))[1])
                known = found[0][1]
                found.append((f"{key}: {value['const']}", [x for x in names if x not in known]))
    return [(case, names) for case, names in found if names]


def _shown_properties(content: dict[str, Any]) -> list[str]:
    below = content.get("properties", {})
    return [key for key, value in below.items() if key[0] != "_" and not is_refusal(value)]


def has_free_keys(content: dict[str, Any]) -> bool:
    """Whether a sub-schema is of a map whose keys are names that its author gives."""
    return "properties" not in content and isinstance(content.get("additionalProperties"), dict)


def field_names(name: str) -> list[str]:
    """The dotted names of all fields that a schema knows, sorted."""
    found: set[str] = set()
    _collect((name, schema(name)), "", 1, found)
    return sorted(found)


def _collect(node: Node, prefix: str, depth: int, found: set[str]) -> None:
    for variant in variants(node):
        for key, value in variant[1].get("properties", {}).items():
            if not is_refusal(value):
                found.add(prefix + key)
                if depth < _DEEPEST:
                    _collect((variant[0], value), f"{prefix}{key}.", depth + 1, found)


def _child(node: Node, step: str) -> Node | None:
    refused = free = None
    for variant in variants(node):
        properties = variant[1].get("properties", {})
        if step in properties:
            child = (variant[0], properties[step])
            if not is_refusal(properties[step]):
                return child
            refused = refused or child
        elif isinstance(variant[1].get("additionalProperties"), dict):
            free = free or (variant[0], variant[1]["additionalProperties"])
    return refused or free


def variants(node: Node) -> Iterator[Node]:
    """The sub-schema and all that may apply in its place or beside it; for lists the items'."""
    name, content = resolved(node)
    yield name, content
    parts = [content[key] for key in ("then", "else") if key in content]
    for key in ("anyOf", "oneOf", "allOf"):
        parts.extend(content.get(key, ()))
    parts.extend(content.get("dependentSchemas", {}).values())
    if isinstance(content.get("items"), dict):
        parts.append(content["items"])
    for part in parts:
        yield from variants((name, part))


def is_refusal(content: Any) -> bool:
    """Whether a sub-schema only says that the field is known but not allowed (`not: {}`)."""
    return content is False or (isinstance(content, dict) and content.get("not") == {})
