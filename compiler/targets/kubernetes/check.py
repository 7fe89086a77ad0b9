"""Strict check of one object against the shapes of a Kubernetes version.

Each type is turned into a closure once, so that a check costs little more than walking the
object. Nothing here knows about files or positions: findings name paths in the object.
"""

from __future__ import annotations

import base64
import binascii
import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache

from compiler.source.suggestions import suggest
from compiler.targets.kubernetes.schema import KEY_DEFAULTS, Schemas, Shape, schemas

Path = tuple[str | int, ...]


class Fault(enum.StrEnum):
    """What can be wrong with a value."""

    UNKNOWN_FIELD = "unknown field"
    MISSING_FIELD = "missing field"
    WRONG_TYPE = "wrong type"
    BAD_VALUE = "bad value"
    DUPLICATE = "duplicate"


@dataclass(frozen=True, slots=True)
class Finding:
    """One fault at `path`; for an unknown or missing field the last step is the field."""

    fault: Fault
    path: Path
    message: str
    found: str | None = None
    expected: str | None = None
    hint: str | None = None


Check = Callable[[object, Path, list[Finding]], None]

_QUANTITY = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?\d+)?")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.IGNORECASE)
_LIMITS = {"int32": 2**31, "int64": 2**63}


def check_object(manifest: object, version: str | None) -> list[Finding]:
    """All faults of a whole object (with `apiVersion` and `kind`) for a Kubernetes version."""
    known = schemas(version)
    if not isinstance(manifest, dict):
        return [_wrong_type((), manifest, "an object")]
    api_version, kind = manifest.get("apiVersion"), manifest.get("kind")
    name = known.type_of(str(api_version), str(kind))
    if name is None:
        return [
            Finding(
                Fault.BAD_VALUE,
                ("kind",),
                f"Kubernetes {known.version} has no `{kind}` of `{api_version}` that is known here",
                found=f"{api_version} {kind}",
                hint=_did_you_mean(f"{api_version} {kind}", known.kinds()),
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
        checks: dict[str, Check] = {}  # filled as fields are met: most never are

        def check(value: object, path: Path, out: list[Finding]) -> None:
            if type(value) is not dict:
                out.append(_wrong_type(path, value, "an object"))
                return
            for field, item in value.items():
                below = checks.get(field)
                if below is None:
                    shape = shapes.get(field)
                    if shape is None:
                        out.append(self._unknown(name, field, path, shapes))
                        continue
                    below = checks[field] = self._of(shape)
                if item is not None:  # the server takes null for "not set"
                    below(item, (*path, field), out)
            for field in required:
                if value.get(field) is None:
                    out.append(
                        Finding(Fault.MISSING_FIELD, (*path, field), f"`{field}` is missing here")
                    )

        return check

    def _of(self, shape: Shape) -> Check:
        match shape.kind:
            case "object":
                return self.of_type(shape.name)
            case "list":
                return self._list(shape)
            case "map":
                return self._map(shape)
            case "enum":
                return _one_of(shape.values)
            case "int32" | "int64":
                return _integer(shape.kind)
            case kind:
                return _SCALARS[kind]

    def _list(self, shape: Shape) -> Check:
        assert shape.item is not None
        item_check, keys, unique = self._of(shape.item), shape.keys, shape.unique

        def check(value: object, path: Path, out: list[Finding]) -> None:
            if type(value) is not list:
                out.append(_wrong_type(path, value, "a list"))
                return
            for index, item in enumerate(value):
                item_check(item, (*path, index), out)
            if (keys or unique) and len(value) > 1:
                _find_doubles(value, keys, path, out)

        return check

    def _map(self, shape: Shape) -> Check:
        assert shape.item is not None
        item_check = self._of(shape.item)

        def check(value: object, path: Path, out: list[Finding]) -> None:
            if type(value) is not dict:
                out.append(_wrong_type(path, value, "a map"))
                return
            for key, item in value.items():
                if type(key) is not str:
                    out.append(_wrong_type((*path, str(key)), key, "text as the key"))
                    continue
                item_check(item, (*path, key), out)

        return check

    def _unknown(
        self, name: str, field: object, path: Path, shapes: Mapping[str, Shape]
    ) -> Finding:
        return Finding(
            Fault.UNKNOWN_FIELD,
            (*path, str(field)),
            f"`{field}` is no field of {_short(name)} in Kubernetes {self._known.version}",
            hint=_other_version(name, str(field)) or _did_you_mean(str(field), shapes),
        )


@cache
def _checker(known: Schemas) -> _Checker:
    return _Checker(known)


def _find_doubles(value: list, keys: tuple[str, ...], path: Path, out: list[Finding]) -> None:
    seen: set = set()
    for index, item in enumerate(value):
        if keys:
            if not isinstance(item, dict):
                continue
            identity = tuple(str(item.get(key, KEY_DEFAULTS.get(key, ""))) for key in keys)
            text = ", ".join(f"{key} {part}" for key, part in zip(keys, identity, strict=True))
        else:
            identity, text = (str(item),), str(item)
        if identity in seen:
            out.append(
                Finding(
                    Fault.DUPLICATE,
                    (*path, index),
                    f"two entries of `{path[-1]}` have the same {text}",
                    found=text,
                )
            )
        seen.add(identity)


def _text(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) is not str:
        out.append(_wrong_type(path, value, "text"))


def _boolean(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) is not bool:
        out.append(_wrong_type(path, value, "true or false"))


def _number(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) not in (int, float):
        out.append(_wrong_type(path, value, "a number"))


def _integer(kind: str) -> Check:
    limit = _LIMITS[kind]

    def check(value: object, path: Path, out: list[Finding]) -> None:
        if type(value) is not int:
            out.append(_wrong_type(path, value, "a whole number"))
        elif not -limit <= value < limit:
            out.append(_bad(path, value, f"a number of {kind[3:]} bits"))

    return check


def _int_or_text(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) not in (int, str):
        out.append(_wrong_type(path, value, "a whole number or text"))


def _quantity(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) in (int, float):
        return
    if type(value) is not str:
        out.append(_wrong_type(path, value, "a quantity"))
    elif not _QUANTITY.fullmatch(value):
        out.append(_bad(path, value, "a quantity such as 4, 500m, 16Gi or 1e3"))


def _bytes(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) is not str:
        out.append(_wrong_type(path, value, "base64 text"))
        return
    try:
        base64.b64decode(value, validate=True)
    except (binascii.Error, ValueError):
        out.append(_bad(path, value, "base64 text"))


def _time(value: object, path: Path, out: list[Finding]) -> None:
    if type(value) is not str:
        out.append(_wrong_type(path, value, "a time"))
    elif not _TIME.fullmatch(value):
        out.append(_bad(path, value, "a time such as 2026-01-02T03:04:05Z"))


def _anything(value: object, path: Path, out: list[Finding]) -> None:
    """No fault: the field holds whatever its user puts there."""


def _one_of(values: tuple[str, ...]) -> Check:
    allowed = frozenset(values)
    expected = ", ".join(item or '""' for item in values)

    def check(value: object, path: Path, out: list[Finding]) -> None:
        if type(value) is not str:
            out.append(_wrong_type(path, value, f"one of {expected}"))
        elif value not in allowed:
            out.append(_bad(path, value, f"one of {expected}", _did_you_mean(value, values)))

    return check


_SCALARS: dict[str, Check] = {
    "string": _text,
    "boolean": _boolean,
    "number": _number,
    "intstr": _int_or_text,
    "quantity": _quantity,
    "bytes": _bytes,
    "time": _time,
    "any": _anything,
}


def _wrong_type(path: Path, value: object, expected: str) -> Finding:
    where = f"`{path[-1]}`" if path else "the document"
    message = f"{where} is not {expected}"
    return Finding(Fault.WRONG_TYPE, path, message, found=shown(value), expected=expected)


def _bad(path: Path, value: object, expected: str, hint: str | None = None) -> Finding:
    message = f"{shown(value)} is not a value of `{path[-1]}`"
    return Finding(Fault.BAD_VALUE, path, message, shown(value), expected, hint)


def shown(value: object) -> str:
    """A value as a message quotes it: short, and never the inside of a map or list."""
    if isinstance(value, dict):
        return "a map"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    text = str(value)
    text = text if len(text) <= 60 else f"{text[:57]}..."
    return f"`{text}`" if isinstance(value, str) else f"the number {text}"


def _did_you_mean(word: str, known: object) -> str | None:
    near = suggest(word, list(known))  # type: ignore[call-overload]
    return f"did you mean `{near}`?" if near else None


def _other_version(name: str, field: str) -> str | None:
    """A hint where a newer version has the field."""
    from compiler.targets.kubernetes.schema import known_versions

    for version in known_versions():
        try:
            if field in schemas(version).fields(name):
                return f"Kubernetes {version} has it: see `version` of the target in the stack"
        except KeyError:
            continue
    return None


def _short(name: str) -> str:
    return name.rpartition(".")[2]
