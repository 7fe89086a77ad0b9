"""Volumes on AWS as plain data: disks of EBS, and file systems of EFS and FSx for Lustre.

A disk is in one zone and on one node; the file systems are shared by any number of nodes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compiler.diagnostics import Code, Diagnostic
from compiler.diagnostics.codes import aws as codes
from compiler.diagnostics.codes.targets import FIELD_IGNORED
from compiler.model import TargetSpec, Volume, names
from compiler.model.named_volumes import place_of
from compiler.targets.aws.labels import label_faults
from compiler.targets.aws.options import region_of
from compiler.targets.aws.support import SUPPORT
from compiler.targets.interface import Job

EBS, EFS, LUSTRE = "aws-ebs", "aws-efs", "aws-fsx-lustre"
_ONE_NODE = ("ReadWriteOnce", "ReadWriteOncePod")
_ID = re.compile(r"(?:vol|fs)-[0-9a-f]{8,17}")
_LIKE_A_RUN = re.compile(r"-[0-9]{1,7}\Z")  # ids have more digits
_LUSTRE_STEP = 2400
_LUSTRE_RATES = (125, 250, 500, 1000)
# least and most of what can be asked for, by EBS' type of volume
_IOPS = {"gp3": (3000, 80000), "io2": (100, 256000)}
_THROUGHPUT = (125, 2000)
_MOST_GIB = 65536

UPDATES: Mapping[str, frozenset[str]] = {
    EBS: frozenset({"size", "labels", "config.iops", "config.throughput", "config.volume_type"}),
    EFS: frozenset({"labels", "size"}),
    LUSTRE: frozenset({"size", "labels", "config.throughput"}),
}
"""What the service changes while the volume is there, by type."""


@dataclass(frozen=True, slots=True)
class AwsVolume:
    """`function` is that of the project's module `library`, called with `arguments`; `tags` are
    empty for one that is there already. `lets_in`: only nodes of a security group of its own."""

    name: str
    module: str
    library: str
    function: str
    summary: str
    tags: Mapping[str, str]
    arguments: tuple[tuple[str, str | int], ...]
    is_existing: bool
    lets_in: bool


def module_of(name: str) -> str:
    """The Python module of an object's name; different names have different ones."""
    module = name.replace("-", "_")
    return f"_{module}" if module[0].isdigit() else module


def module_of_volume(set_name: str, volume: str) -> str:
    return module_of(names.work_label(set_name, volume))


def lower_volume(job: Job) -> AwsVolume:
    """The data of a volume that `volume_faults` has nothing against."""
    volume = job.volume
    assert volume is not None
    function = {EBS: "disk", EFS: "shared", LUSTRE: "lustre"}[volume.type]
    size = "" if volume.size_gib is None or volume.type == EFS else f", {volume.size_gib} GiB"
    kind = {EBS: "a disk of EBS", EFS: "a file system of EFS", LUSTRE: "FSx for Lustre"}
    return AwsVolume(
        name=job.name,
        module=module_of_volume(job.stack.set_name, volume.name),
        library="volumes" if volume.type == EBS else "filesystems",
        function=f"existing_{function}" if volume.use_existing else function,
        summary=f"{job.name}: {kind[volume.type]}{size}",
        tags={
            "triplane:work": job.work,
            "triplane:run": str(job.run),
            **volume.labels,
            "Name": job.name,
        },
        arguments=tuple(_arguments(volume)),
        is_existing=volume.use_existing,
        lets_in=volume.type != EBS and not volume.use_existing,
    )


def _arguments(volume: Volume) -> Iterator[tuple[str, str | int]]:
    zone = place_of(volume).zone
    if zone is not None and not (volume.use_existing and volume.type != EBS):
        yield "zone", zone
    if volume.use_existing:
        is_id = _ID.fullmatch(volume.name) is not None
        if volume.type == EBS:
            yield "by", "volume-id" if is_id else "tag:Name"
            yield "value", volume.name
        else:
            yield ("id" if is_id else "tag"), volume.name
        return
    if volume.type != EFS and volume.size_gib is not None:
        yield "size", volume.size_gib
    if volume.type == EBS:
        kind = volume_type(volume)
        yield "volume_type", kind
        yield "iops", _number(volume, "iops") or _IOPS[kind][0]
        if kind == "gp3":
            yield "throughput", _number(volume, "throughput") or _THROUGHPUT[0]
    if volume.type == LUSTRE:
        yield "throughput", _number(volume, "throughput") or _LUSTRE_RATES[0]


def volume_type(volume: Volume) -> str:
    return str(volume.config.get("volume_type") or "gp3")


def _number(volume: Volume, key: str) -> int | None:
    value = volume.config.get(key)
    return value if isinstance(value, int) else None


def mounts_on_several(volume: Volume) -> bool:
    """Whether several nodes can have it at the same time."""
    return volume.type != EBS


def volume_faults(volume: Volume, target: TargetSpec) -> Iterator[Diagnostic]:
    """What the services of AWS would refuse, and what of the document is lost."""

    def at(code: Code, key: str, message: str, **more: str) -> Diagnostic:
        path = (key,) if key in ("infra", "size", "name") else ("config", key)
        return code.at(volume.origin.span(*path), message, target=target.key, **more)

    if _LIKE_A_RUN.search(volume.name):
        message = f"`{volume.name}` ends like the name of a run"
        yield at(codes.VOLUME_VALUE, "name", message, expected="a name without a number behind it")
    for key in ("storage_class_name", "namespace"):
        if volume.config.get(key) is not None:
            row = SUPPORT[f"volume ({key})"]
            yield at(FIELD_IGNORED, key, f"`volume` on AWS: {row.note}")
    yield from label_faults(volume.labels, volume.origin.child("labels"), target)
    zone, region = place_of(volume).zone, region_of(target)
    if zone is not None and not zone.startswith(region):
        yield at(codes.ZONE, "infra", f"`{zone}` is no zone of {region}")
    if volume.type == EBS:
        yield from _disk_faults(volume, target, zone, at)
    if volume.type == LUSTRE and volume.use_existing and not _ID.fullmatch(volume.name):
        expected = "the id of the file system (fs-...) as the name"
        message = f"`{volume.name}` is no id"
        yield at(codes.VOLUME_VALUE, "name", message, expected=expected)
    if volume.type == LUSTRE and not volume.use_existing:
        size, rate = volume.size_gib or 0, _number(volume, "throughput")
        if size != _LUSTRE_STEP // 2 and (size < _LUSTRE_STEP or size % _LUSTRE_STEP):
            expected = f"{_LUSTRE_STEP // 2}, {_LUSTRE_STEP}, or a multiple of it"
            yield at(codes.VOLUME_VALUE, "size", f"there is no {size} GiB", expected=expected)
        if rate is not None and rate not in _LUSTRE_RATES:
            expected = f"one of {', '.join(map(str, _LUSTRE_RATES))} MB/s for each TiB"
            message = f"there is no {rate} MB/s"
            yield at(codes.VOLUME_VALUE, "throughput", message, expected=expected)


def _disk_faults(volume: Volume, target: TargetSpec, zone: str | None, at) -> Iterator[Diagnostic]:
    if zone is None:
        yield at(
            codes.VOLUME_ZONE,
            "infra" if volume.infra else "name",
            f"disk `{volume.name}` names no zone",
            hint=f"`infra: aws/{target.key}/{region_of(target)}a`",
        )
    if volume.access_mode is not None and volume.access_mode not in _ONE_NODE:
        message = f"a disk is not {volume.access_mode}"
        yield at(
            codes.VOLUME_VALUE,
            "access_mode",
            message,
            expected=", ".join(_ONE_NODE),
            hint=f"`type: {EFS}` is for several nodes",
        )
    if (volume.size_gib or 0) > _MOST_GIB:
        expected = f"at most {_MOST_GIB} GiB"
        message = f"no disk has {volume.size_gib} GiB"
        yield at(codes.VOLUME_VALUE, "size", message, expected=expected)
    kind = volume_type(volume)
    if kind not in _IOPS:
        message = f"`{kind}` is no type of a disk that is made"
        yield at(codes.VOLUME_VALUE, "volume_type", message, expected="gp3 or io2")
        return
    iops = _number(volume, "iops") or _IOPS[kind][0]
    least, most = _IOPS[kind]
    if not least <= iops <= most:
        message = f"a {kind} disk has no {iops} IOPS"
        yield at(codes.VOLUME_VALUE, "iops", message, expected=f"{least} to {most}")
    rate = _number(volume, "throughput")
    if rate is not None:
        top = min(_THROUGHPUT[1], iops // 4)
        if kind != "gp3" or not _THROUGHPUT[0] <= rate <= top:
            message = f"a {kind} disk with {iops} IOPS has no throughput of {rate} MiB/s"
            expected = f"{_THROUGHPUT[0]} to {top}" if kind == "gp3" else "none, by its IOPS"
            yield at(codes.VOLUME_VALUE, "throughput", message, expected=expected)
