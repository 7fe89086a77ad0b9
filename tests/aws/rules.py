"""Rules of AWS that hold for every program: what a cloud engineer would look for.

`violations` walks what a program registered under the SDK's mocks (mocks.py); each rule is a
function that yields words for what breaks it.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator

from compiler.catalog import instance_type
from compiler.targets.aws.instances import efa_of
from tests.aws.mocks import Project, Registered
from tests.aws.standin.rules import TYPES, faults

Rule = Callable[[Project], Iterator[str]]
_WORLD = ("0.0.0.0/0", "::/0")
# Actions that know no narrower resource.
_ANYWHERE = {
    "ecr:GetAuthorizationToken",
    "ssm:UpdateInstanceInformation",
    *(
        f"ssmmessages:{verb}{kind}Channel"
        for verb in ("Create", "Open")
        for kind in ("Control", "Data")
    ),
}
_UNTAGGABLE = ("RolePolicy", "BucketObjectv2", "MountTarget", "VolumeAttachment")


def violations(project: Project) -> list[str]:
    """One line for everything that breaks a rule."""
    return [f"{rule.__name__}: {words}" for rule in RULES for words in rule(project)]


def no_ssh_from_the_world(project: Project) -> Iterator[str]:
    for item in project.of("SecurityGroupIngressRule"):
        first, last = item.inputs.get("fromPort", 0), item.inputs.get("toPort", 65535)
        if _is_open(item) and first <= 22 <= last:
            yield item.name


def no_protocol_is_open_whole(project: Project) -> Iterator[str]:
    for item in project.of("SecurityGroupIngressRule"):
        if _is_open(item) and item.inputs["ipProtocol"] not in ("tcp", "udp"):
            yield item.name


def metadata_needs_a_token(project: Project) -> Iterator[str]:
    for item in project.of("LaunchTemplate"):
        options = item.inputs.get("metadataOptions") or {}
        if options.get("httpTokens") != "required" or options["httpPutResponseHopLimit"] > 2:
            yield item.name


def disks_are_encrypted(project: Project) -> Iterator[str]:
    for item in project.of("LaunchTemplate"):
        for mapping in item.inputs.get("blockDeviceMappings") or [{}]:
            if (mapping.get("ebs") or {}).get("encrypted") != "true":
                yield item.name
    for kind in ("Volume", "FileSystem"):  # Lustre always encrypts
        for item in project.of(kind):
            if item.inputs.get("encrypted") is not True:
                yield item.name


def the_provider_takes_it(project: Project) -> Iterator[str]:
    for item in project.resources:
        named = {"name": "a-name", "description": "", **item.inputs}
        if item.type not in TYPES:
            yield f"{item.type} is not known"
            continue
        yield from (f"{item.name}: {where} {why}" for where, why in faults(TYPES[item.type], named))


def efa_fits_the_cards(project: Project) -> Iterator[str]:
    for item in project.of("LaunchTemplate"):
        interfaces = item.inputs.get("networkInterfaces")
        row = instance_type(str(item.inputs.get("instanceType")))
        if not interfaces or row is None:
            continue
        efa = efa_of(row)
        fast = [nic for nic in interfaces if str(nic.get("interfaceType")).startswith("efa")]
        if efa is None or len(fast) > efa.count:
            yield f"{item.name}: {len(fast)} EFA interfaces on {row.name}"
            continue
        for nic in fast:
            card, device = nic["networkCardIndex"], nic["deviceIndex"]
            if not efa.first <= card < efa.end or device != (1 if card == 0 else 0):
                yield f"{item.name}: EFA on card {card} at device {device}"
        plain = [nic for nic in interfaces if nic not in fast]
        if [(nic["networkCardIndex"], nic["deviceIndex"]) for nic in plain] != [(0, 0)]:
            yield f"{item.name}: exactly one interface for IP, at device 0 of card 0"


def interfaces_have_the_groups(project: Project) -> Iterator[str]:
    for item in project.of("LaunchTemplate"):
        interfaces = item.inputs.get("networkInterfaces") or []
        if not all(nic.get("securityGroups") for nic in interfaces):
            yield item.name
        if not interfaces and not item.inputs.get("vpcSecurityGroupIds"):
            yield item.name


def efa_traffic_is_allowed(project: Project) -> Iterator[str]:
    for item in project.of("LaunchTemplate"):
        for nic in (item.inputs.get("networkInterfaces") or [])[:1]:
            group = nic["securityGroups"][0]  # behind it those of volumes
            for kind in ("SecurityGroupIngressRule", "SecurityGroupEgressRule"):
                own = [
                    rule
                    for rule in project.of(kind)
                    if rule.inputs["securityGroupId"] == group
                    and rule.inputs.get("referencedSecurityGroupId") == group
                    and rule.inputs["ipProtocol"] == "-1"
                ]
                if not own:
                    yield f"{item.name}: {kind}"


def several_fast_nodes_are_together(project: Project) -> Iterator[str]:
    """Those with EFA or accelerators, unless a reservation says where they are."""
    for item in project.of("LaunchTemplate"):
        nodes = [node for node in project.of("Instance") if node.name.startswith(f"{item.name}-")]
        kind = instance_type(str(item.inputs["instanceType"]))
        is_fast = item.inputs.get("networkInterfaces") or (kind and kind.accelerator)
        if len(nodes) > 1 and is_fast and "capacityReservationSpecification" not in item.inputs:
            groups = [group.name for group in project.of("PlacementGroup")]
            if item.name not in groups or "placement" not in item.inputs:
                yield item.name


def roles_may_do_little(project: Project) -> Iterator[str]:
    for item in project.of("RolePolicy"):
        for statement in json.loads(str(item.inputs["policy"]))["Statement"]:
            actions = statement["Action"]
            actions = [actions] if isinstance(actions, str) else actions
            if any("*" in action.partition(":")[2] for action in actions):
                yield f"{item.name}: {actions}"
            resource = statement["Resource"]
            if resource == "*" and not set(actions) <= _ANYWHERE:
                yield f"{item.name}: {actions} on *"


def roles_are_for_instances(project: Project) -> Iterator[str]:
    for item in project.of("Role"):
        for statement in json.loads(str(item.inputs["assumeRolePolicy"]))["Statement"]:
            if statement["Principal"] != {"Service": "ec2.amazonaws.com"}:
                yield item.name


def user_data_fits(project: Project) -> Iterator[str]:
    for item in project.of("LaunchTemplate"):
        text = base64.b64decode(str(item.inputs["userData"]), validate=True)
        if len(text) > 16384 or not text.startswith(b"#!/bin/bash\n"):
            yield item.name


def everything_is_tagged(project: Project) -> Iterator[str]:
    for item in project.resources:
        if item.type.rpartition(":")[2] in _UNTAGGABLE:
            continue
        tags = item.inputs.get("tags") or {}
        if not {"triplane:set", "triplane:work"} <= set(tags):
            yield f"{item.type} {item.name}"


def volumes_of_nodes_are_tagged(project: Project) -> Iterator[str]:
    for item in project.of("LaunchTemplate"):
        kinds = {spec["resourceType"] for spec in item.inputs.get("tagSpecifications") or []}
        if not {"volume", "network-interface"} <= kinds:
            yield item.name


def what_holds_data_is_protected(project: Project) -> Iterator[str]:
    for kind in ("Volume", "FileSystem", "LustreFileSystem"):
        yield from (item.name for item in project.of(kind) if not item.is_protected)


def nodes_stay_while_they_run(project: Project) -> Iterator[str]:
    for item in project.of("Instance"):
        if "launch_template" not in item.ignore_changes and "launchTemplate" not in (
            item.ignore_changes
        ):
            yield item.name


def names_fit(project: Project) -> Iterator[str]:
    # Eight characters of Pulumi's own come behind.
    for kind in ("Role", "InstanceProfile"):
        for item in project.of(kind):
            if not re.fullmatch(r"[\w+=,.@-]{1,56}", item.name):
                yield item.name


RULES: tuple[Rule, ...] = (
    no_ssh_from_the_world,
    no_protocol_is_open_whole,
    metadata_needs_a_token,
    disks_are_encrypted,
    the_provider_takes_it,
    efa_fits_the_cards,
    interfaces_have_the_groups,
    efa_traffic_is_allowed,
    several_fast_nodes_are_together,
    roles_may_do_little,
    roles_are_for_instances,
    user_data_fits,
    everything_is_tagged,
    volumes_of_nodes_are_tagged,
    what_holds_data_is_protected,
    nodes_stay_while_they_run,
    names_fit,
)


def _is_open(item: Registered) -> bool:
    return any(item.inputs.get(key) in _WORLD for key in ("cidrIpv4", "cidrIpv6"))
