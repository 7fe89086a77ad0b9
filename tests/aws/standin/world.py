"""What exists at the stand-in's AWS: a JSON file, with objects and instances also in moto.

Layout of the folder that `$AWS_STANDIN` names:

    world.json    id -> {"type", "name", "inputs"}; edit it to make drift
    faults.json   resource type or name -> message: its creation fails
    stuck.json    resource type or name -> message: its deletion fails
    refusals.json resource type -> message: its inputs are refused, already in a preview
    slow.json     resource type or name -> seconds that its creation takes once it is there
    answers.json  SSM parameter -> AMI
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import Any

INSTANCE = "aws:ec2/instance:Instance"
OBJECT = "aws:s3/bucketObjectv2:BucketObjectv2"
DISK = "aws:ebs/volume:Volume"
SHARED = "aws:efs/fileSystem:FileSystem"
LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
DEFAULT_AMI = "ami-0123456789abcdef0"


class World:
    """Reads and writes are whole and exclusive: the engine calls from several threads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def read(self, name: str = "world") -> dict[str, Any]:
        path = self.folder / f"{name}.json"
        return json.loads(path.read_text()) if path.exists() else {}

    @contextmanager
    def changed(self) -> Iterator[dict[str, Any]]:
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            world = self.read()
            yield world
            new = self.folder / "world.json.new"
            new.write_text(json.dumps(world, indent=1, sort_keys=True))
            new.replace(self.folder / "world.json")

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [item for item in self.read().values() if item["type"].endswith(f":{kind}")]

    def template_of(self, inputs: dict[str, Any]) -> dict[str, Any]:
        identity = (inputs.get("launchTemplate") or {}).get("id")
        return self.read().get(identity, {}).get("inputs", {})


def begin(world: World, kind: str, inputs: dict[str, Any]) -> str | None:
    """Make it in moto where its API matters to us; the id that it then has there."""
    import boto3

    if kind == OBJECT:
        body = str(inputs.get("content", "")).encode()
        boto3.client("s3").put_object(Bucket=inputs["bucket"], Key=inputs["key"], Body=body)
        return f"{inputs['bucket']}/{inputs['key']}"
    if kind == DISK:
        zone, size = inputs["availabilityZone"], int(inputs["size"])
        return boto3.client("ec2").create_volume(AvailabilityZone=zone, Size=size)["VolumeId"]
    if kind == SHARED:
        return boto3.client("efs").create_file_system(CreationToken=token_hex(8))["FileSystemId"]
    if kind == LUSTRE:
        made = boto3.client("fsx").create_file_system(
            FileSystemType="LUSTRE",
            StorageCapacity=int(inputs["storageCapacity"]),
            SubnetIds=[inputs["subnetIds"]],
        )
        return made["FileSystem"]["FileSystemId"]
    if kind != INSTANCE:
        return None
    template = world.template_of(inputs)
    tags = [{"Key": key, "Value": value} for key, value in inputs.get("tags", {}).items()]
    answer = boto3.client("ec2").run_instances(
        ImageId=inputs.get("ami") or template.get("imageId") or DEFAULT_AMI,
        InstanceType=inputs.get("instanceType") or template.get("instanceType"),
        MinCount=1,
        MaxCount=1,
        TagSpecifications=[{"ResourceType": "instance", "Tags": tags}],
    )
    return answer["Instances"][0]["InstanceId"]


def end(kind: str, identity: str, inputs: dict[str, Any]) -> None:
    import boto3

    if kind == OBJECT:
        boto3.client("s3").delete_object(Bucket=inputs["bucket"], Key=inputs["key"])
    elif is_gone(kind, identity):
        return
    elif kind == INSTANCE:
        boto3.client("ec2").terminate_instances(InstanceIds=[identity])
    elif kind == DISK:
        boto3.client("ec2").delete_volume(VolumeId=identity)
    elif kind == SHARED:
        boto3.client("efs").delete_file_system(FileSystemId=identity)
    elif kind == LUSTRE:
        boto3.client("fsx").delete_file_system(FileSystemId=identity)


def is_gone(kind: str, identity: str) -> bool:
    """Whether an instance was terminated, or a volume deleted, by somebody else."""
    if kind not in (INSTANCE, DISK, SHARED, LUSTRE):
        return False
    import boto3
    from botocore.exceptions import ClientError

    try:
        if kind == DISK:
            return not boto3.client("ec2").describe_volumes(VolumeIds=[identity])["Volumes"]
        if kind == SHARED:
            found = boto3.client("efs").describe_file_systems(FileSystemId=identity)
            return not found["FileSystems"]
        if kind == LUSTRE:
            found = boto3.client("fsx").describe_file_systems(FileSystemIds=[identity])
            return not found["FileSystems"]
        answer = boto3.client("ec2").describe_instances(InstanceIds=[identity])
    except ClientError:
        return True
    state = answer["Reservations"][0]["Instances"][0]["State"]["Name"]
    return state in ("terminated", "shutting-down")
