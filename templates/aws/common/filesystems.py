"""File systems of EFS and FSx for Lustre, which let in the nodes that mount them."""

import dataclasses

import pulumi
import pulumi_aws as aws

from common import network
from common.volumes import Tags, Volume, component, exported, kept


@dataclasses.dataclass(frozen=True)
class FileSystem(Volume):
    """`group` is the security group of nodes that are let in."""

    group: pulumi.Output[str]


def shared(name: str, tags: Tags, zone: str | None = None) -> FileSystem:
    """A file system of EFS, reached through one address in the nodes' subnet."""
    opts = kept(name)
    server, clients = groups(name, tags, [(2049, 2049)], opts)
    made = aws.efs.FileSystem(
        name,
        encrypted=True,
        throughput_mode="elastic",
        tags=tags,
        opts=opts,
    )
    target = aws.efs.MountTarget(
        name,
        file_system_id=made.id,
        subnet_id=network.subnet_id(zone),
        security_groups=[server.id],
        opts=opts,
    )
    return exported(name, "shared", FileSystem(made.id, target.ip_address, clients.id))


def lustre(
    name: str,
    tags: Tags,
    size: int,
    throughput: int,
    zone: str | None = None,
) -> FileSystem:
    """A file system of FSx for Lustre, in GiB and MB/s for each TiB."""
    opts = kept(name)
    server, clients = groups(name, tags, [(988, 988), (1018, 1023)], opts)
    made = aws.fsx.LustreFileSystem(
        name,
        storage_capacity=size,
        deployment_type="PERSISTENT_2",
        per_unit_storage_throughput=throughput,
        storage_type="SSD",
        data_compression_type="LZ4",
        file_system_type_version="2.15",
        subnet_ids=network.subnet_id(zone),
        security_group_ids=[server.id],
        tags=tags,
        opts=opts,
    )
    found = FileSystem(made.id, lustre_location(made), clients.id)
    return exported(name, "lustre", found)


def existing_shared(
    name: str,
    *,
    id: str | None = None,
    tag: str | None = None,
) -> Volume:
    """A file system of EFS that is there, by its id or its Name tag."""
    found = aws.efs.get_file_system_output(
        file_system_id=id,
        tags={"Name": tag} if tag else None,
    )
    return exported(name, "shared", Volume(found.file_system_id, found.dns_name))


def existing_lustre(name: str, *, id: str) -> Volume:
    """A file system of FSx for Lustre that is there."""
    opts = pulumi.ResourceOptions(parent=component(name))
    found = aws.fsx.LustreFileSystem.get(name, id, opts=opts)
    return exported(name, "lustre", Volume(found.id, lustre_location(found)))


def lustre_location(found: aws.fsx.LustreFileSystem) -> pulumi.Output[str]:
    return pulumi.Output.concat(found.dns_name, "/", found.mount_name)


def groups(
    name: str,
    tags: Tags,
    ports: list[tuple[int, int]],
    opts: pulumi.ResourceOptions,
) -> tuple[aws.ec2.SecurityGroup, aws.ec2.SecurityGroup]:
    """The group of a file system, and that of its nodes: each lets in itself and the other."""
    server, clients = (
        aws.ec2.SecurityGroup(
            f"{name}-{part}",
            description=f"{words} {name}",
            vpc_id=network.vpc_id(),
            tags=tags,
            opts=opts,
        )
        for part, words in (("server", "Volume"), ("clients", "Nodes that mount"))
    )
    pairs = (
        ("server-from-clients", server, clients),
        ("server-from-itself", server, server),
        ("clients-from-server", clients, server),
    )
    for pair, group, other in pairs:
        for start, end in ports:
            aws.vpc.SecurityGroupIngressRule(
                f"{name}-{pair}-{start}",
                description="Traffic of the file system",
                security_group_id=group.id,
                referenced_security_group_id=other.id,
                ip_protocol="tcp",
                from_port=start,
                to_port=end,
                tags=tags,
                opts=opts,
            )
    aws.vpc.SecurityGroupEgressRule(
        f"{name}-server-to-clients",
        description="Answers, and calls back",
        security_group_id=server.id,
        referenced_security_group_id=clients.id,
        ip_protocol="-1",
        tags=tags,
        opts=opts,
    )
    return server, clients
