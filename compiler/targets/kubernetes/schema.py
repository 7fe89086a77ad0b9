"""The shapes of Kubernetes objects by API version, and the keys of their lists.

The data is `schemas/core.json`, made by tools/derive_kubernetes_schemas.py (its docstring has
the format), and `schemas/extensions.json`, which holds the custom resources that are rendered,
in the same words. It is read when first asked for and laid out once for each minor version.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compiler.source.numbers import whole

# The newest known: what stands in for a version that the stack does not name.
DEFAULT_VERSION = "1.37"
# A list-map key that a server fills in where it is left out.
KEY_DEFAULTS = {"protocol": "TCP"}

_FOLDER = Path(__file__).parent / "schemas"

MergeKeys = Callable[[str, str, tuple[str, ...]], tuple[str, ...] | None]


@dataclass(frozen=True, slots=True)
class Shape:
    """The parsed SHAPE of a field.

    `kind` is a scalar's name, `object` (`name` is its type), `enum` (`values`), `list` or
    `map` (`item` is the shape of what is in it). `keys` are a keyed list's; `unique` says
    that a list is a set.
    """

    kind: str
    name: str = ""
    item: Shape | None = None
    keys: tuple[str, ...] = ()
    unique: bool = False
    required: bool = False
    values: tuple[str, ...] = ()


class Schemas:
    """All types of one minor version; shapes are parsed when first asked for."""

    def __init__(self, version: str, types: Mapping[str, object], kinds: Mapping[str, str]) -> None:
        self.version = version
        self._types = types
        self._kinds = {key: name for key, name in kinds.items() if name in types}
        self._fields: dict[str, Mapping[str, Shape]] = {}

    def type_of(self, api_version: str, kind: str) -> str | None:
        """The type of an object, None if this version does not know it."""
        return self._kinds.get(f"{api_version} {kind}")

    def kinds(self) -> list[str]:
        """`<apiVersion> <kind>` of everything known."""
        return sorted(self._kinds)

    def fields(self, name: str) -> Mapping[str, Shape]:
        """The fields of a type. Raise KeyError for a type that this version does not have."""
        known = self._fields.get(name)
        if known is None:
            body = self._types[name]
            assert isinstance(body, Mapping)
            known = self._fields[name] = {key: self._parse(text) for key, text in body.items()}
        return known

    def shape_at(self, name: str, path: tuple[str, ...]) -> Shape | None:
        """The shape below a type, following field names; list items need no step.

        None where the path leaves what is known (an unknown field, a map of free keys).
        """
        shape: Shape | None = Shape("object", name)
        for step in path:
            while shape is not None and shape.kind == "list":
                shape = shape.item
            if shape is None:
                return None
            if shape.kind == "map":
                shape = shape.item
            elif shape.kind == "object":
                shape = self.fields(shape.name).get(step)
            else:
                return None
        return shape

    def _parse(self, text: str) -> Shape:
        required = text.startswith("!")
        text = text.removeprefix("!")
        if text.startswith("["):
            inner, _, rest = text[1:].rpartition("]")
            keys = tuple(rest.removeprefix(" by ").split(",")) if rest.startswith(" by ") else ()
            return Shape(
                "list",
                item=self._parse(inner),
                keys=keys,
                unique=rest == " set",
                required=required,
            )
        if text.startswith("{"):
            return Shape("map", item=self._parse(text[1:-1]), required=required)
        if text.startswith("enum "):
            values = self._types[text]
            assert isinstance(values, list)
            return Shape("enum", text[5:], values=tuple(values), required=required)
        if "." in text:
            return Shape("object", text, required=required)
        return Shape(text, required=required)


@cache
def _data(name: str = "core") -> dict:
    return json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def known_versions() -> list[str]:
    """The minor versions that there is data for, oldest first."""
    return list(_data()["versions"])


def minor_of(version: str | None) -> str:
    """`1.34` for `1.34`, `v1.34.2` and `1.34.2-eks-abc`; the default for None."""
    if version is None:
        return DEFAULT_VERSION
    return ".".join(version.removeprefix("v").split(".")[:2])


@cache
def nearest_version(version: str | None) -> str:
    """The known minor version to check against: itself, else the nearest that is known."""
    wanted = minor_of(version)
    known = known_versions()
    if wanted in known:
        return wanted
    try:
        number = tuple(whole(part) for part in wanted.split("."))
    except ValueError:
        return DEFAULT_VERSION
    older = [item for item in known if tuple(whole(part) for part in item.split(".")) < number]
    return older[-1] if older else known[0]


def schemas(version: str | None) -> Schemas:
    """The schemas to check a target of this version against (see `nearest_version`)."""
    return _schemas(nearest_version(version))


@cache
def _schemas(version: str) -> Schemas:
    extensions = _data("extensions")
    types: dict[str, object] = dict(extensions["types"])
    for step, changes in _data()["versions"].items():
        for name, change in changes.items():
            old = types.get(name)
            if change is None:
                types.pop(name, None)
            elif isinstance(change, dict) and isinstance(old, dict):
                merged = {**old, **change}
                types[name] = {key: text for key, text in merged.items() if text is not None}
            else:
                types[name] = change
        if step == version:
            break
    return Schemas(version, types, {**_data()["kinds"], **extensions["kinds"]})


@cache
def merge_keys(version: str | None) -> MergeKeys:
    """The list-map keys of a version: (apiVersion, kind, path) -> names of keys, or None.

    `path` holds field names only, no indices: `("spec", "template", "spec", "containers")`.
    None means that the list is one value (atomic), or that the object or field is unknown.
    """
    found = schemas(version)

    @cache
    def keys_of(api_version: str, kind: str, path: tuple[str, ...]) -> tuple[str, ...] | None:
        name = found.type_of(api_version, kind)
        shape = found.shape_at(name, path) if name else None
        return (shape.keys or None) if shape else None

    return keys_of


def list_map_keys(
    kind: str, path: tuple[str, ...], version: str | None = None, api_version: str = "v1"
) -> tuple[str, ...] | None:
    """One look-up of `merge_keys`; for a pod, `list_map_keys("Pod", ("spec", "volumes"))`."""
    return merge_keys(version)(api_version, kind, path)
