"""Which volumes a task's nodes mount, and where."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.diagnostics import Diagnostic, Span
from compiler.diagnostics.codes import aws as codes
from compiler.model import Volume
from compiler.model.named_volumes import place_of
from compiler.targets.aws.volumes import EBS, module_of_volume, mounts_on_several
from compiler.targets.interface import Job

_FIRST_DEVICE = "f"  # /dev/sdf to /dev/sdp are free on every image
_MOST_DISKS = 11
_NODE_KINDS = {"aws-ebs": "disk", "aws-efs": "nfs", "aws-fsx-lustre": "lustre"}


@dataclass(frozen=True, slots=True)
class MountedVolume:
    """A volume on the nodes: `variable` is what the program calls it, `device` the letter of a
    disk's device name, None for a file system."""

    name: str
    module: str
    variable: str
    kind: str
    device: str | None
    read_only: bool
    is_new: bool


def mounted_volumes(job: Job) -> tuple[MountedVolume, ...]:
    """Each volume once, in the order of the task's mounts."""
    found: dict[str, MountedVolume] = {}
    disks = 0
    for _, volume in _used(job):
        device = None
        if volume.type == EBS:
            device = chr(ord(_FIRST_DEVICE) + disks)
            disks += 1
        found[volume.name] = MountedVolume(
            name=volume.name,
            module=module_of_volume(job.stack.set_name, volume.name),
            variable=f"volume_{len(found)}",
            kind=_NODE_KINDS[volume.type],
            device=device,
            read_only=volume.access_mode == "ReadOnlyMany",
            is_new=not volume.use_existing,
        )
    return tuple(found.values())


def mounts(job: Job) -> list[tuple[str, str, str]]:
    """(volume, path, part of it) of each mount."""
    return [
        (mount.name, mount.path, mount.sub_path or "")
        for mount in job.task.volumes
        if mount.name is not None and _can_mount(job.mounted.get(mount.name))
    ]


def zone_of_volumes(job: Job) -> str | None:
    """The zone of the disks that the task mounts; None where it mounts none."""
    zones = (place_of(volume).zone for _, volume in _used(job) if volume.type == EBS)
    return next(filter(None, zones), None)


def mount_faults(job: Job, zone: str | None) -> Iterator[Diagnostic]:
    """Volumes that the task's nodes cannot have; `zone` is what else says where they are."""
    disks = 0
    wanted = zone
    for mount, volume in _used(job):
        if job.task.num_nodes > 1 and not mounts_on_several(volume):
            yield codes.VOLUME_NODES.at(
                mount,
                f"disk `{volume.name}` is for one node, the task has {job.task.num_nodes}",
                hint="make it `type: aws-efs`",
                target=job.target.key,
            )
        if volume.type != EBS:
            continue
        disks += 1
        there = place_of(volume).zone
        if None not in (wanted, there) and wanted != there:
            yield codes.VOLUME_ZONE.at(
                mount,
                f"disk `{volume.name}` is in {there}, the nodes are in {wanted}",
                target=job.target.key,
            )
        wanted = wanted or there
        if disks > _MOST_DISKS:
            yield codes.VOLUME_NODES.at(
                mount,
                f"a node has no {disks} disks beside its own",
                expected=f"at most {_MOST_DISKS}",
                target=job.target.key,
            )


def _can_mount(volume: Volume | None) -> bool:
    """Whether it is one of AWS: that a task mounts another is said elsewhere."""
    return volume is not None and volume.type in _NODE_KINDS


def _used(job: Job) -> Iterator[tuple[Span, Volume]]:
    """(where it is mounted first, volume) of each volume."""
    seen: set[str] = set()
    for mount in job.task.volumes:
        volume = job.mounted.get(mount.name or "")
        if volume is not None and _can_mount(volume) and volume.name not in seen:
            seen.add(volume.name)
            yield mount.origin.span(), volume
