"""What the AWS provider refuses, names by itself, and replaces: the types that programs use.

Written from the provider's documented arguments. `named` is the property that gets a name of
the resource's own with eight characters behind it; `forces` are inputs whose change replaces.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

Inputs = dict[str, Any]


@dataclass(frozen=True)
class Rules:
    """`one_of`: exactly one of each group; `any_of`: at least one; `not_with`: pairs."""

    required: tuple[str, ...] = ()
    forces: tuple[str, ...] = ()
    named: str | None = None
    one_of: tuple[tuple[str, ...], ...] = ()
    any_of: tuple[tuple[str, ...], ...] = ()
    not_with: tuple[tuple[str, str], ...] = ()
    values: Callable[[Inputs], Iterator[tuple[str, str]]] | None = None


def faults(rules: Rules, inputs: Inputs) -> Iterator[tuple[str, str]]:
    """(property, reason) of everything that is wrong."""
    for name in rules.required:
        if inputs.get(name) in (None, ""):
            yield name, f"Missing required property '{name}'"
    for group in rules.one_of:
        given = [name for name in group if inputs.get(name) is not None]
        if len(given) != 1:
            yield group[0], f"exactly one of `{','.join(group)}` must be specified"
    for group in rules.any_of:
        if not any(inputs.get(name) is not None for name in group):
            yield group[0], f"one of `{','.join(group)}` must be specified"
    for first, second in rules.not_with:
        if inputs.get(first) is not None and inputs.get(second) is not None:
            yield first, f'"{first}": conflicts with {second}'
    if rules.values is not None:
        yield from rules.values(inputs)


def _known(value: object) -> bool:
    return not (isinstance(value, str) and value.startswith("04da6b54-80e4-46f7-96ec-b56ff0331ba9"))


def _template(inputs: Inputs) -> Iterator[tuple[str, str]]:
    data = inputs.get("userData")
    if isinstance(data, str) and _known(data):
        try:
            size = len(base64.b64decode(data, validate=True))
            if size > 16384:
                yield "userData", "User data is limited to 16384 bytes"
        except binascii.Error:
            yield "userData", "Invalid BASE64 encoding of user data"
    image = inputs.get("imageId")
    if isinstance(image, str) and _known(image) and not re.match("ami-|resolve:ssm:", image):
        yield "imageId", 'expected image_id to start with "ami-"'
    options = inputs.get("metadataOptions") or {}
    if options.get("httpTokens") not in (None, "optional", "required"):
        yield "metadataOptions.httpTokens", 'expected http_tokens to be one of ["optional" ...]'
    if not 1 <= options.get("httpPutResponseHopLimit", 1) <= 64:
        yield "metadataOptions.httpPutResponseHopLimit", "expected to be in the range (1 - 64)"
    for mapping in inputs.get("blockDeviceMappings") or ():
        yield from _ebs(mapping.get("ebs") or {}, "blockDeviceMappings.ebs")
    market = (inputs.get("instanceMarketOptions") or {}).get("marketType")
    if market not in (None, "spot", "capacity-block"):
        yield "instanceMarketOptions.marketType", f"unexpected market type {market}"
    yield from _interfaces(inputs)


def _ebs(ebs: Inputs, where: str) -> Iterator[tuple[str, str]]:
    kind = ebs.get("volumeType")
    if kind not in (None, "standard", "gp2", "gp3", "io1", "io2", "sc1", "st1"):
        yield where, f"expected volume_type to be one of the volume types, got {kind}"
    if ebs.get("throughput") is not None and kind != "gp3":
        yield where, f"'throughput' must not be set when 'volume_type' is '{kind}'"
    if ebs.get("iops") is None and kind in ("io1", "io2"):
        yield where, f"'iops' must be set when 'volume_type' is '{kind}'"
    if ebs.get("iops") is not None and kind not in ("gp3", "io1", "io2"):
        yield where, f"'iops' must not be set when 'volume_type' is '{kind}'"
    if kind == "gp3" and not 3000 <= ebs.get("iops", 3000) <= 80000:
        yield where, "gp3 volumes have 3000 to 80000 IOPS"
    throughput = ebs.get("throughput", 125)
    if not 125 <= throughput <= 2000 or throughput > ebs.get("iops", 3000) / 4:
        yield where, "throughput is between 125 and a quarter of the IOPS"


def _interfaces(inputs: Inputs) -> Iterator[tuple[str, str]]:
    interfaces = inputs.get("networkInterfaces") or []
    if interfaces and inputs.get("vpcSecurityGroupIds"):
        yield (
            "networkInterfaces",
            "Network interfaces and an instance-level security groups may not be specified",
        )
    places = [(item.get("networkCardIndex", 0), item.get("deviceIndex")) for item in interfaces]
    if len(set(places)) != len(places):
        yield "networkInterfaces", "each network interface must have a unique device index"
    for item in interfaces:
        if item.get("interfaceType") not in (None, "interface", "efa", "efa-only"):
            yield "networkInterfaces", f"unexpected interface_type {item.get('interfaceType')}"
        if item.get("associatePublicIpAddress") == "true" and len(interfaces) > 1:
            yield "networkInterfaces", "associatePublicIPAddress with several interfaces"


def _rule(inputs: Inputs) -> Iterator[tuple[str, str]]:
    ports = [name for name in ("fromPort", "toPort") if inputs.get(name) is not None]
    if inputs.get("ipProtocol") == "-1" and ports:
        yield "fromPort", "ports must not be set when ip_protocol is -1"
    if inputs.get("ipProtocol") in ("tcp", "udp") and len(ports) != 2:
        yield "fromPort", "from_port and to_port must be set"


def _group(inputs: Inputs) -> Iterator[tuple[str, str]]:
    if not re.fullmatch(r"[0-9A-Za-z_ .:/()#,@\[\]+=&;{}!$*-]{0,255}", inputs["description"]):
        yield "description", "doesn't comply with restrictions"
    if str(inputs.get("name", "")).startswith("sg-"):
        yield "name", "cannot begin with sg-"


def _role(inputs: Inputs) -> Iterator[tuple[str, str]]:
    yield from _policy(inputs, "assumeRolePolicy")
    if not re.fullmatch(r"[\w+=,.@-]{1,64}", str(inputs.get("name", ""))):
        yield "name", "expected length of name to be in the range (1 - 64)"


def _policy(inputs: Inputs, key: str = "policy") -> Iterator[tuple[str, str]]:
    if isinstance(inputs.get(key), str) and _known(inputs[key]):
        try:
            json.loads(inputs[key])
        except ValueError:
            yield key, "contains an invalid JSON policy"


def _placement(inputs: Inputs) -> Iterator[tuple[str, str]]:
    if inputs.get("strategy") not in ("cluster", "partition", "spread"):
        yield "strategy", f"expected strategy to be one of [...], got {inputs.get('strategy')}"
    if inputs.get("partitionCount") and inputs.get("strategy") != "partition":
        yield "partitionCount", "partition_count must only be set with strategy partition"


def _disk(inputs: Inputs) -> Iterator[tuple[str, str]]:
    yield from _ebs({**inputs, "volumeType": inputs.get("type")}, "type")
    if not 1 <= inputs.get("size", 1) <= 65536:
        yield "size", "expected to be in the range (1 - 65536)"


def _lustre(inputs: Inputs) -> Iterator[tuple[str, str]]:
    size, kind = inputs.get("storageCapacity"), inputs.get("deploymentType")
    if kind == "PERSISTENT_2" and size != 1200 and (not size or size % 2400):
        yield "storageCapacity", "is 1200, 2400 or an increment of 2400"
    if kind == "PERSISTENT_2" and inputs.get("perUnitStorageThroughput") not in (
        *(125, 250),
        *(500, 1000),
    ):
        yield "perUnitStorageThroughput", "expected one of [125 250 500 1000]"
    if kind == "SCRATCH_2" and inputs.get("perUnitStorageThroughput") is not None:
        yield "perUnitStorageThroughput", "is only for persistent deployment types"


TYPES: dict[str, Rules] = {
    "aws:ebs/volume:Volume": Rules(
        required=("availabilityZone",),
        any_of=(("size", "snapshotId"),),
        forces=("availabilityZone", "encrypted", "kmsKeyId", "snapshotId", "outpostArn"),
        values=_disk,
    ),
    "aws:efs/fileSystem:FileSystem": Rules(
        forces=(
            *("availabilityZoneName", "creationToken", "encrypted", "kmsKeyId"),
            "performanceMode",
        ),
    ),
    "aws:efs/mountTarget:MountTarget": Rules(
        required=("fileSystemId", "subnetId"),
        forces=("fileSystemId", "subnetId", "ipAddress"),
    ),
    "aws:fsx/lustreFileSystem:LustreFileSystem": Rules(
        required=("subnetIds",),
        forces=(
            *("deploymentType", "fileSystemTypeVersion", "securityGroupIds", "storageType"),
            *("subnetIds", "kmsKeyId"),
        ),
        values=_lustre,
    ),
    "aws:ec2/volumeAttachment:VolumeAttachment": Rules(
        required=("deviceName", "instanceId", "volumeId"),
        forces=("deviceName", "instanceId", "volumeId"),
    ),
    "aws:ec2/instance:Instance": Rules(
        any_of=(("ami", "launchTemplate"), ("instanceType", "launchTemplate")),
        forces=(
            *("ami", "availabilityZone", "keyName", "placementGroup", "privateIp", "subnetId"),
            *("tenancy", "hibernation", "networkInterfaces", "instanceMarketOptions"),
            "launchTemplate.id",
        ),
        not_with=(
            ("networkInterfaces", "subnetId"),
            ("networkInterfaces", "vpcSecurityGroupIds"),
            ("userData", "userDataBase64"),
        ),
    ),
    "aws:ec2/launchTemplate:LaunchTemplate": Rules(
        named="name", forces=("name", "namePrefix"), values=_template
    ),
    "aws:ec2/placementGroup:PlacementGroup": Rules(
        required=("strategy",), named="name", forces=("name", "strategy"), values=_placement
    ),
    "aws:ec2/securityGroup:SecurityGroup": Rules(
        named="name", forces=("name", "description", "vpcId"), values=_group
    ),
    **{
        f"aws:vpc/{name[0].lower()}{name[1:]}:{name}": Rules(
            required=("ipProtocol", "securityGroupId"),
            forces=("securityGroupId",),
            one_of=(("cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId"),),
            values=_rule,
        )
        for name in ("SecurityGroupIngressRule", "SecurityGroupEgressRule")
    },
    "aws:iam/role:Role": Rules(
        required=("assumeRolePolicy",), named="name", forces=("name", "path"), values=_role
    ),
    "aws:iam/rolePolicy:RolePolicy": Rules(
        required=("policy", "role"), named="name", forces=("name", "role"), values=_policy
    ),
    "aws:iam/instanceProfile:InstanceProfile": Rules(named="name", forces=("name", "path")),
    "aws:s3/bucketObjectv2:BucketObjectv2": Rules(
        required=("bucket", "key"),
        forces=("bucket", "key"),
        not_with=(("content", "source"), ("content", "contentBase64")),
    ),
}
