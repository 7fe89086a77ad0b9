"""Strict check of one object against the shapes of a Kubernetes version.

Each type is turned into a closure once, so that a check costs little more than walking the
object. Nothing here knows about files or positions: findings name paths in the object.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from compiler.targets.kubernetes.scalars import (
    SCALARS,
    Check,
    Fault,
    Finding,
    Path,
    did_you_mean,
    integer,
    one_of,
    wrong_type,
)
from compiler.targets.kubernetes.schema import (
    KEY_DEFAULTS,
    Schemas,
    Shape,
    known_versions,
    schemas,
)

# Kinds for which the type of a value says all.
_SIMPLE: Mapping[str, type] = {"string": str, "boolean": bool}
_Below = tuple[type | None, Check]


def check_object(manifest: object, version: str | None) -> list[Finding]:
    """All faults of a whole object (with `apiVersion` and `kind`) for a Kubernetes version."""
    known = schemas(version)
    if not isinstance(manifest, dict):
        return [wrong_type((), manifest, "an object")]
    api_version, kind = manifest.get("apiVersion"), manifest.get("kind")
    name = known.type_of(str(api_version), str(kind))
    if name is None:
        return [
            Finding(
                Fault.BAD_VALUE,
                ("kind",),
                f"Kubernetes {known.version} has no `{kind}` of `{api_version}` that is known here",
                found=f"{api_version} {kind}",
                hint=did_you_mean(f"{api_version} {kind}", known.kinds()),
            )
        ]
    findings: list[Finding] = []
    _checker(known).of_type(name)(manifest, (), findings)
    return findings


def check_part(value: object, type_name: str, path: Path, version: str | None) -> list[Finding]:
    """All faults of a part, such as a pod template (`core.v1.PodTemplateSpec`)."""
    findings: list[Finding] = []
    _checker(schemas(version)).of_type(type_name)(value, path, findings)
    return findings


class _Checker:
    """The closures of one version, made when first needed."""

    def __init__(self, known: Schemas) -> None:
        self._known = known
        self._types: dict[str, Check] = {}

    def of_type(self, name: str) -> Check:
        found = self._types.get(name)
        if found is None:
            found = self._types[name] = self._object(name)
        return found

    def _object(self, name: str) -> Check:
        shapes = self._known.fields(name)
        required = tuple(field for field, shape in shapes.items() if shape.required)
        checks: dict[str, _Below] = {}  # filled as fields are met: most never are

        def check(value: object, path: Path, out: list[Finding]) -> None:
            if type(value) is not dict:
                out.append(wrong_type(path, value, "an object"))
                return
            for field, item in value.items():
                below = checks.get(field)
                if below is None:
                    shape = shapes.get(field)
                    if shape is None:
                        out.append(self._unknown(name, field, path, shapes))
                        continue
                    below = checks[field] = self._below(shape)
                right, check_item = below
                # the server takes null for "not set"
                if type(item) is not right and item is not None:
                    check_item(item, (*path, field), out)
            for field in required:
                if value.get(field) is None:
                    out.append(
                        Finding(Fault.MISSING_FIELD, (*path, field), f"`{field}` is missing here")
                    )

        return check

    def _below(self, shape: Shape) -> _Below:
        return _SIMPLE.get(shape.kind), self._of(shape)

    def _of(self, shape: Shape) -> Check:
        match shape.kind:
            case "object":
                return self.of_type(shape.name)
            case "list":
                return self._list(shape)
            case "map":
                return self._map(shape)
            case "enum":
                return one_of(shape.values)
            case "int32" | "int64":
                return integer(shape.kind)
            case kind:
                return SCALARS[kind]

    def _list(self, shape: Shape) -> Check:
        assert shape.item is not None
        (right, item_check), keys, unique = self._below(shape.item), shape.keys, shape.unique

        def check(value: object, path: Path, out: list[Finding]) -> None:
            if type(value) is not list:
                out.append(wrong_type(path, value, "a list"))
                return
            for index, item in enumerate(value):
                if type(item) is not right:
                    item_check(item, (*path, index), out)
            if (keys or unique) and len(value) > 1:
                _find_doubles(value, keys, path, out)

        return check

    def _map(self, shape: Shape) -> Check:
        assert shape.item is not None
        right, item_check = self._below(shape.item)

        def check(value: object, path: Path, out: list[Finding]) -> None:
            if type(value) is not dict:
                out.append(wrong_type(path, value, "a map"))
                return
            for key, item in value.items():
                if type(key) is not str:
                    out.append(wrong_type((*path, str(key)), key, "text as the key"))
                elif type(item) is not right:
                    item_check(item, (*path, key), out)

        return check

    def _unknown(
        self, name: str, field: object, path: Path, shapes: Mapping[str, Shape]
    ) -> Finding:
        return Finding(
            Fault.UNKNOWN_FIELD,
            (*path, str(field)),
            f"`{field}` is no field of {_short(name)} in Kubernetes {self._known.version}",
            hint=_other_version(name, str(field)) or did_you_mean(str(field), shapes),
        )


@cache
def _checker(known: Schemas) -> _Checker:
    return _Checker(known)


def _find_doubles(value: list, keys: tuple[str, ...], path: Path, out: list[Finding]) -> None:
    seen: set = set()
    for index, item in enumerate(value):
        identity: tuple[str, ...]
        if not keys:
            identity = (str(item),)
        elif isinstance(item, dict):
            identity = tuple([str(item.get(key, KEY_DEFAULTS.get(key, ""))) for key in keys])
        else:
            continue
        if identity in seen:
            parts = [f"{key} {part}" for key, part in zip(keys, identity, strict=bool(keys))]
            text = ", ".join(parts or identity)
            out.append(
                Finding(
                    Fault.DUPLICATE,
                    (*path, index),
                    f"two entries of `{path[-1]}` have the same {text}",
                    found=text,
                )
            )
        seen.add(identity)


def _other_version(name: str, field: str) -> str | None:
    """A hint where a newer version has the field."""
    for version in known_versions():
        try:
            if field in schemas(version).fields(name):
                return f"Kubernetes {version} has it: see `version` of the target in the stack"
        except KeyError:
            continue
    return None


def _short(name: str) -> str:
    return name.rpartition(".")[2]
