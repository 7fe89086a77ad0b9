"""Where nodes are placed, who reaches them, and the interfaces of a fast fabric."""

import functools

import pulumi
import pulumi_aws as aws


@functools.cache
def vpc_id() -> pulumi.Output[str]:
    return aws.ec2.get_vpc_output(default=True).id


@functools.cache
def subnet_id(zone: str | None = None) -> pulumi.Output[str]:
    """One subnet for all nodes of a run: they are in one zone, near each other."""
    filters = vpc_id().apply(lambda vpc: subnet_filters(vpc, zone))
    return aws.ec2.get_subnets_output(filters=filters).ids.apply(first)


def subnet_filters(vpc: str, zone: str | None) -> list[aws.ec2.GetSubnetsFilterArgs]:
    filters = [
        aws.ec2.GetSubnetsFilterArgs(name="vpc-id", values=[vpc]),
    ]
    if zone is not None:
        filters.append(
            aws.ec2.GetSubnetsFilterArgs(name="availability-zone", values=[zone]),
        )
    return filters


def first(ids: list[str]) -> str:
    found = sorted(ids)
    if not found:
        raise ValueError("the VPC has no subnet that the target's settings allow")
    return found[0]


def security_group(
    parent: pulumi.Resource,
    name: str,
    tags: dict[str, str],
    ports: list[tuple[int, int]] | None = None,
) -> aws.ec2.SecurityGroup:
    """All traffic among the nodes, everything outwards, inwards only `ports`.

    There is no rule for SSH: Session Manager reaches the nodes.
    """
    opts = pulumi.ResourceOptions(parent=parent)
    group = aws.ec2.SecurityGroup(
        name,
        description=f"Nodes of {name}",
        vpc_id=vpc_id(),
        tags=tags,
        opts=opts,
    )
    aws.vpc.SecurityGroupIngressRule(
        f"{name}-from-itself",
        description="All traffic from the other nodes",
        security_group_id=group.id,
        referenced_security_group_id=group.id,
        ip_protocol="-1",
        tags=tags,
        opts=opts,
    )
    # EFA needs this rule even beside the one that allows everything.
    aws.vpc.SecurityGroupEgressRule(
        f"{name}-to-itself",
        description="All traffic to the other nodes",
        security_group_id=group.id,
        referenced_security_group_id=group.id,
        ip_protocol="-1",
        tags=tags,
        opts=opts,
    )
    aws.vpc.SecurityGroupEgressRule(
        f"{name}-to-anywhere",
        description="Packages, data and AWS itself",
        security_group_id=group.id,
        cidr_ipv4="0.0.0.0/0",
        ip_protocol="-1",
        tags=tags,
        opts=opts,
    )
    for start, end in ports or []:
        aws.vpc.SecurityGroupIngressRule(
            f"{name}-port-{start}",
            description="Opened by the task",
            security_group_id=group.id,
            cidr_ipv4="0.0.0.0/0",
            ip_protocol="tcp",
            from_port=start,
            to_port=end,
            tags=tags,
            opts=opts,
        )
    return group


def efa_interfaces(
    cards: range,
    subnet: pulumi.Input[str],
    groups: list[pulumi.Input[str]],
) -> list[aws.ec2.LaunchTemplateNetworkInterfaceArgs]:
    """An interface for IP on card 0, and one for EFA alone on each of `cards`."""

    def interface(card: int, device: int, kind: str | None = None):
        return aws.ec2.LaunchTemplateNetworkInterfaceArgs(
            network_card_index=card,
            device_index=device,
            interface_type=kind,
            subnet_id=subnet,
            security_groups=groups,
            delete_on_termination="true",
        )

    return [
        interface(0, 0),
        *(interface(card, 1 if card == 0 else 0, "efa-only") for card in cards),
    ]
