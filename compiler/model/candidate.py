"""One candidate: a resources map, with an alternative laid over it, as a dataclass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from compiler.diagnostics import Code, Related
from compiler.diagnostics.codes import model_resources as codes
from compiler.model.builder import Builder, is_number, shown
from compiler.model.images import build_image
from compiler.model.infra import parse_cloud, parse_infra
from compiler.model.labels import build_labels
from compiler.model.lifetime import build_autostop, build_job_recovery
from compiler.model.ports import build_ports
from compiler.model.resources import Accelerator, Infra, Resources
from compiler.model.units import parse_cpus, parse_disk_size, parse_local_disk, parse_memory
from compiler.source.paths import Path
from compiler.source.wording import described, listed, quoted

_OUTER: Path = ("resources",)
_PLACE_KEYS = ("cloud", "region", "zone")
_LARGEST_PRIORITY = 1000
_Reader = Callable[[Builder, Path, Any], Any]


@dataclass(frozen=True, slots=True)
class Layer:
    """The values of a candidate by key, and the path of each; `own` are those of the item."""

    values: Mapping[str, object]
    where: Mapping[str, Path]
    own: Mapping[str, Path] = field(default_factory=dict)


def _parsed(code: Code, parse: Callable[[Any], Any]) -> _Reader:
    return lambda b, path, value: b.parsed(code, path, parse, value)


def _one_of(*known: str) -> _Reader:
    def read(b: Builder, path: Path, value: object) -> str | None:
        if isinstance(value, str) and value.lower() in known:
            return value.lower()
        b.unexpected(path, value, "one of " + ", ".join(known))
        return None

    return read


def _cost(b: Builder, path: Path, value: object) -> float | None:
    if is_number(value) and value > 0:  # type: ignore[operator]
        return value  # type: ignore[return-value]
    b.unexpected(path, value, "USD per hour above 0")
    return None


def _priority(b: Builder, path: Path, value: object) -> int | None:
    if is_number(value) and value == int(value) and abs(value) <= _LARGEST_PRIORITY:  # type: ignore
        return int(value)  # type: ignore[call-overload]
    b.report(
        codes.PRIORITY_RANGE,
        path,
        f"`priority` cannot be {shown(value)}",
        expected=f"an integer from -{_LARGEST_PRIORITY} to {_LARGEST_PRIORITY}",
    )
    return None


def _size_text(b: Builder, path: Path, value: object) -> str | None:
    size = b.parsed(codes.DISK_SIZE_VALUE, path, parse_disk_size, value)
    return None if size is None else f"{size}Gi"


_READERS: dict[str, _Reader] = {
    "cpus": _parsed(codes.CPUS_VALUE, parse_cpus),
    "memory": _parsed(codes.MEMORY_VALUE, parse_memory),
    "instance_type": Builder.text,
    "use_spot": partial(Builder.flag, default=False),
    "max_hourly_cost": _cost,
    "disk_size": _parsed(codes.DISK_SIZE_VALUE, parse_disk_size),
    "disk_tier": _one_of("low", "medium", "high", "ultra", "best"),
    "network_tier": _one_of("standard", "best"),
    "local_disk": _parsed(codes.LOCAL_DISK_VALUE, parse_local_disk),
    "ephemeral_storage": _size_text,
    "ports": build_ports,
    "accelerator_args": Builder.mapping,
    "autostop": build_autostop,
    "priority": _priority,
    "priority_class": Builder.text,
    "job_recovery": build_job_recovery,
}
"""How each key is read whose value needs no other key; keys are attributes of Resources."""


def build_candidate(
    b: Builder, layer: Layer, accelerator: Accelerator | None, path: Path
) -> Resources:
    """The candidate of `layer`, which stands at `path`; faults are reported."""
    values, where = layer.values, layer.where
    fields: dict[str, Any] = {}
    for key, value in values.items():
        reader = _READERS.get(key)
        if reader is not None and value is not None:
            read = reader(b, where[key], value)
            if read is not None:
                fields[key] = read
    infra = _infra(b, layer)
    of_no_cluster = infra.zone is not None and infra.region is None
    if infra.cloud == "slurm" and of_no_cluster and values.get("infra") is None:
        b.report(
            codes.INFRA_VALUE,
            where["zone"],
            f"the partition `{infra.zone}` of no cluster",
            expected="a cluster with it: `slurm/CLUSTER/PARTITION`",
        )
    if "labels" in values:
        fields["labels"] = build_labels(b, where["labels"], values["labels"], infra.cloud)
    if "image_id" in values:
        fields["image"] = build_image(
            b, where["image_id"], values["image_id"], infra, fields.get("network_tier")
        )
    memory = fields.get("memory")
    if memory is not None and memory.value == 0 and infra.cloud != "slurm":
        b.report(
            codes.MEMORY_VALUE,
            where["memory"],
            "`memory: 0` is for Slurm only",
            found=described(values["memory"]),
            expected="more than 0",
        )
    if values.get("volumes") and infra.cloud != "gcp":
        b.report(
            codes.RESOURCES_VOLUMES,
            where["volumes"],
            "`resources.volumes` are disks of Google Cloud machines",
            at_key=True,
            hint="use the task's `volumes`",
        )
    return Resources(
        infra=infra,
        accelerator=accelerator,
        given=frozenset(values),
        origin=b.origin(*path),
        outer=b.origin(*_OUTER),
        where={
            key: b.origin(*place)
            for key, place in where.items()
            if len(place) != 2 or place[1] != key
        },
        **fields,
    )


def _infra(b: Builder, layer: Layer) -> Infra:
    values, where = layer.values, layer.where
    text = values.get("infra")
    if text is not None:
        also = [key for key in _PLACE_KEYS if values.get(key) is not None]
        if also:
            names = listed([quoted(key) for key in also], "and")
            b.report(
                codes.INFRA_TWICE,
                where["infra"],
                f"`infra` and {names} both say where the task goes",
                at_key=True,
                hint=f"put everything into `infra`, and drop {names}",
                related=[Related("given here", b.key_span(where[also[0]]))],
            )
        if not isinstance(text, str):
            b.unexpected(where["infra"], text, "text such as aws/us-east-1")
            return Infra()
        return b.parsed(codes.INFRA_VALUE, where["infra"], parse_infra, text) or Infra()
    if not any(key in values for key in _PLACE_KEYS):
        return Infra()
    cloud = values.get("cloud")
    return Infra(
        None if cloud is None else b.parsed(codes.INFRA_VALUE, where["cloud"], parse_cloud, cloud),
        _place(b, layer, "region"),
        _place(b, layer, "zone"),
    )


def _place(b: Builder, layer: Layer, key: str) -> str | None:
    value = layer.values.get(key)
    return None if value is None else b.text(layer.where[key], value)
