"""Each rule finds what breaks it; the golden programs are held to all of them elsewhere."""

from __future__ import annotations

import copy
import json

import pytest

from compiler.diagnostics import Diagnostics
from compiler.targets.aws import TARGET
from tests.aws import builders, rules
from tests.aws.mocks import Project, run_project, write_project


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Project:
    """Two nodes with EFA and an open port, and a disk."""
    job = builders.job(
        builders.resources("H100:8", network_tier="best", ports=("8080",)), num_nodes=2
    )
    disk = builders.volume_job("aws-ebs", size=10, infra="aws/us-east-1/us-east-1a")
    artifacts = [
        *TARGET.project(job.stack, job.target),
        *TARGET.render(job, Diagnostics()),
        *TARGET.render(disk, Diagnostics()),
    ]
    return run_project(write_project(tmp_path_factory.mktemp("project"), artifacts))


def change(project: Project, kind: str, **inputs: object) -> None:
    """Lays inputs over the first resource of a kind; None takes one away."""
    item = project.of(kind)[0]
    for name, value in inputs.items():
        if value is None:
            item.inputs.pop(name)
        else:
            item.inputs[name] = value


def without(project: Project, kind: str) -> None:
    gone = project.of(kind)
    project.resources = [item for item in project.resources if item not in gone]


def interface(card: int, device: int) -> dict:
    return {
        "networkCardIndex": card,
        "deviceIndex": device,
        "interfaceType": "efa-only",
        "securityGroups": ["llama-pretrain-1-id"],
    }


def policy(action: str) -> str:
    return json.dumps({"Statement": [{"Action": action, "Resource": "*"}]})


def other_service(text: str) -> str:
    return text.replace("ec2.amazonaws.com", "lambda.amazonaws.com")


BROKEN = {
    rules.no_ssh_from_the_world: lambda p: change(
        p, "SecurityGroupIngressRule", cidrIpv4="0.0.0.0/0", fromPort=20, toPort=30
    ),
    rules.no_protocol_is_open_whole: lambda p: change(
        p, "SecurityGroupIngressRule", cidrIpv6="::/0", ipProtocol="-1"
    ),
    rules.metadata_needs_a_token: lambda p: change(
        p, "LaunchTemplate", metadataOptions={"httpTokens": "optional"}
    ),
    rules.disks_are_encrypted: lambda p: change(
        p, "LaunchTemplate", blockDeviceMappings=[{"ebs": {"encrypted": "false"}}]
    ),
    rules.the_provider_takes_it: lambda p: change(p, "LaunchTemplate", imageId="img-1"),
    rules.efa_fits_the_cards: lambda p: change(
        p, "LaunchTemplate", networkInterfaces=[interface(0, 0), interface(1, 1)]
    ),
    rules.interfaces_have_the_groups: lambda p: change(p, "LaunchTemplate", networkInterfaces=[]),
    rules.efa_traffic_is_allowed: lambda p: without(p, "SecurityGroupEgressRule"),
    rules.several_fast_nodes_are_together: lambda p: without(p, "PlacementGroup"),
    rules.roles_may_do_little: lambda p: change(p, "RolePolicy", policy=policy("s3:GetObject")),
    rules.roles_are_for_instances: lambda p: change(
        p, "Role", assumeRolePolicy=other_service(p.one("Role").inputs["assumeRolePolicy"])
    ),
    rules.user_data_fits: lambda p: change(p, "LaunchTemplate", userData="eA=="),
    rules.everything_is_tagged: lambda p: change(p, "Role", tags=None),
    rules.volumes_of_nodes_are_tagged: lambda p: change(p, "LaunchTemplate", tagSpecifications=[]),
    rules.what_holds_data_is_protected: lambda p: object.__setattr__(
        p.one("Volume"), "is_protected", False
    ),
    rules.nodes_stay_while_they_run: lambda p: object.__setattr__(
        p.of("Instance")[0], "ignore_changes", ()
    ),
    rules.names_fit: lambda p: object.__setattr__(p.one("Role"), "name", "x" * 60),
}


def test_a_good_program_breaks_none(project):
    assert rules.violations(project) == []


@pytest.mark.parametrize("rule", rules.RULES, ids=lambda rule: rule.__name__)
def test_the_rule_finds_what_breaks_it(rule, project):
    broken = copy.deepcopy(project)
    BROKEN[rule](broken)
    assert list(rule(broken))
