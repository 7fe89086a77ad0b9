#!/usr/bin/env python3
"""Derive the custom resources in compiler/targets/kubernetes/schemas/extensions.json.

    go mod download -json sigs.k8s.io/jobset@v0.12.0 volcano.sh/apis@v1.14.0
    python tools/derive_extension_schemas.py "$(go env GOMODCACHE)"

The definitions come from the projects' own CustomResourceDefinitions, or from their Go types
where a module has no others, found below the module cache by KINDS; a module that is not there
is an error. What a definition repeats of Kubernetes (a Job's template) becomes a reference to
the type in core.json. Kinds without a module stay as they are written in the file: the External
Secrets and Prometheus operators publish no module that holds their definitions alone.

The words of the result are those of core.json (tools/derive_kubernetes_schemas.py).
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

FORMATS = {"byte": "bytes", "int32": "int32", "int64": "int64", "date-time": "time"}
DEFAULT = {"integer": "int64", "string": "string", "boolean": "boolean", "number": "number"}
SERVER_OWNED = {"status"}


@dataclass(frozen=True)
class Source:
    """Where a kind's definition lies, the prefix of its types, and which paths below the kind
    are types of Kubernetes."""

    file: str
    version: str
    prefix: str
    known: Mapping[tuple[str, ...], str] = field(default_factory=dict)


_METADATA = {("metadata",): "meta.v1.ObjectMeta"}
KINDS = {
    "jobset.x-k8s.io/v1alpha2 JobSet": Source(
        "sigs.k8s.io/jobset@v0.12.0/config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml",
        "v1alpha2",
        "jobset.v1alpha2",
        {
            **_METADATA,
            ("spec", "replicatedJobs", "template"): "batch.v1.JobTemplateSpec",
            ("spec", "volumeClaimPolicies", "templates"): "core.v1.PersistentVolumeClaim",
        },
    ),
}
# kind -> (file with the Go type of its spec, prefix of its types)
GO_KINDS = {
    "scheduling.volcano.sh/v1beta1 PodGroup": (
        "volcano.sh/apis@v1.14.0/pkg/apis/scheduling/v1beta1/types.go",
        "volcano.v1beta1",
    ),
}
GO_SHAPES = {
    "int32": "int32",
    "int64": "int64",
    "string": "string",
    "bool": "boolean",
    "map[string]int32": "{int32}",
    "v1.ResourceList": "{quantity}",
}
GO_FIELD = re.compile(r"^\s+\w+\s+(\S+)\s+`json:\"(\w+)", re.MULTILINE)
OUTPUT = (
    Path(__file__).resolve().parent.parent / "compiler/targets/kubernetes/schemas/extensions.json"
)


def main() -> None:
    parser = argparse.ArgumentParser(description="Derive the schemas of custom resources.")
    parser.add_argument("modules", type=Path, help="Go's module cache")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    args = parser.parse_args()
    data = json.loads(args.output.read_text(encoding="utf-8"))
    kinds, types = dict(data["kinds"]), dict(data["types"])
    for kind, source in KINDS.items():
        for name in [name for name in types if source.prefix in name]:
            del types[name]
        kinds[kind] = f"{source.prefix}.{kind.partition(' ')[2]}"
        types.update(derive(kinds[kind], definition(args.modules / source.file, source), source))
    for kind, (file, prefix) in GO_KINDS.items():
        name = kinds[kind] = f"{prefix}.{kind.partition(' ')[2]}"
        text = (args.modules / file).read_text(encoding="utf-8")
        types.update(derive_from_go(name, kind.partition(" ")[2], text))
    args.output.write_text(dump(kinds, types), encoding="utf-8")
    print(f"{args.output}: {len(kinds)} kinds, {len(types)} types", file=sys.stderr)


def definition(path: Path, source: Source) -> dict:
    """The schema of the version that is rendered."""
    for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
        if document and document.get("kind") == "CustomResourceDefinition":
            for version in document["spec"]["versions"]:
                if version["name"] == source.version:
                    return version["schema"]["openAPIV3Schema"]
    raise SystemExit(f"{path}: no CustomResourceDefinition of {source.version}")


def derive_from_go(name: str, kind: str, text: str) -> dict[str, object]:
    """The types of a kind by the Go type of its spec; what is deeper holds anything."""
    found = re.search(rf"^type {kind}Spec struct {{\n(.*?)^}}", text, re.MULTILINE | re.DOTALL)
    if found is None:
        raise SystemExit(f"no type {kind}Spec")
    fields = {
        key: GO_SHAPES.get(go_type.lstrip("*"), "any")
        for go_type, key in GO_FIELD.findall(found[1])
    }
    spec = f"{name}_Spec"
    top = {"apiVersion": "string", "kind": "string", "metadata": "meta.v1.ObjectMeta", "spec": spec}
    return {name: top, spec: dict(sorted(fields.items()))}


def derive(name: str, schema: Mapping, source: Source) -> dict[str, object]:
    """The types of a kind, each named by its place in it."""
    types: dict[str, object] = {}
    pending: list[tuple[str, Mapping, tuple[str, ...]]] = [(name, schema, ())]
    while pending:
        current, body, path = pending.pop()
        required = body.get("required", ())
        fields: dict[str, str] = {}
        for key, item in sorted(body.get("properties", {}).items()):
            if key in SERVER_OWNED and not path:
                continue
            text = _shape(current, key, item, (*path, key), source, pending, types)
            fields[key] = "!" * (key in required) + text
        types[current] = fields
    return types


def _shape(
    owner: str,
    key: str,
    schema: Mapping,
    path: tuple[str, ...],
    source: Source,
    pending: list,
    types: dict[str, object],
) -> str:
    kind = schema.get("type", "object")
    if kind == "array":
        inner = _shape(owner, key, schema["items"], path, source, pending, types)
        if schema.get("x-kubernetes-list-type") == "set":
            return f"[{inner}] set"
        keys = schema.get("x-kubernetes-list-map-keys")
        return f"[{inner}] by {','.join(keys)}" if keys else f"[{inner}]"
    if path in source.known:
        return source.known[path]
    if schema.get("x-kubernetes-int-or-string"):
        return "quantity" if "pattern" in schema else "intstr"
    if kind == "object":
        if schema.get("properties"):
            name = f"{owner}_{key[0].upper()}{key[1:]}"
            pending.append((name, schema, path))
            return name
        more = schema.get("additionalProperties")
        if isinstance(more, Mapping):
            return "{" + _shape(owner, key, more, path, source, pending, types) + "}"
        return "any"
    if schema.get("enum") and kind == "string":
        name = f"{owner}_{key[0].upper()}{key[1:]}"
        types[f"enum {name}"] = sorted(schema["enum"])
        return f"enum {name}"
    return FORMATS.get(schema.get("format", ""), DEFAULT[kind])


def dump(kinds: Mapping[str, str], types: Mapping[str, object]) -> str:
    """One kind and one type a line."""

    def lines(values: Mapping[str, object]) -> Iterator[str]:
        for name, body in sorted(values.items()):
            yield f"  {json.dumps(name)}: {json.dumps(body)}"

    parts = [",\n".join(lines(kinds)), ",\n".join(lines(types))]
    return f'{{\n "kinds": {{\n{parts[0]}\n }},\n "types": {{\n{parts[1]}\n }}\n}}\n'


if __name__ == "__main__":
    main()
