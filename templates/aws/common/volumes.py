"""What outlives runs: volumes are made once, and mounted by the nodes of tasks."""

import dataclasses
import functools
import typing

import pulumi
import pulumi_aws as aws

from common import settings

Tags = dict[str, str]
AnyVolume = typing.TypeVar("AnyVolume", bound="Volume")


@dataclasses.dataclass(frozen=True)
class Volume:
    """`location` is what a node mounts, which it reads from its tags."""

    id: pulumi.Output[str]
    location: pulumi.Output[str]


def disk(
    name: str,
    tags: Tags,
    zone: str,
    size: int,
    volume_type: str,
    iops: int,
    throughput: int | None = None,
) -> Volume:
    """A disk of EBS, in GiB and MiB/s."""
    made = aws.ebs.Volume(
        name,
        availability_zone=zone,
        size=size,
        type=volume_type,
        iops=iops,
        throughput=throughput,
        encrypted=True,
        tags=tags,
        opts=kept(name),
    )
    return exported(name, "disk", Volume(made.id, made.id))


def existing_disk(name: str, zone: str, *, by: str, value: str) -> Volume:
    """A disk that is there, found by a filter of EC2."""
    filters = [
        aws.ebs.GetVolumeFilterArgs(name=by, values=[value]),
        aws.ebs.GetVolumeFilterArgs(name="availability-zone", values=[zone]),
    ]
    found = aws.ebs.get_volume_output(filters=filters).volume_id
    return exported(name, "disk", Volume(found, found))


def attach(
    run: pulumi.Resource,
    name: str,
    node: aws.ec2.Instance,
    disks: dict[str, Volume],
) -> None:
    """Give a node its disks, by device name; they are free again when it is gone."""
    for device, volume in disks.items():
        aws.ec2.VolumeAttachment(
            f"{name}-{device.removeprefix('/dev/')}",
            device_name=device,
            volume_id=volume.id,
            instance_id=node.id,
            opts=pulumi.ResourceOptions(parent=run),
        )


@functools.cache
def component(name: str) -> pulumi.ComponentResource:
    return pulumi.ComponentResource("triplane:aws:Volume", name)


def kept(name: str) -> pulumi.ResourceOptions:
    """Options of what holds data: Pulumi does not delete it until it is released."""
    return pulumi.ResourceOptions(
        parent=component(name),
        protect=name not in settings.released_volumes(),
    )


def exported(name: str, kind: str, volume: AnyVolume) -> AnyVolume:
    outputs = {"volume": pulumi.Output.concat(kind, ":", volume.id)}
    component(name).register_outputs(outputs)
    pulumi.export(name, outputs)
    return volume
