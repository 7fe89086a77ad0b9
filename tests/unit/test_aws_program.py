"""Rendered projects executed under Pulumi's real SDK: every resource and input."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re

import pytest

from compiler.diagnostics import Diagnostics
from compiler.model import FileMount, Image, Infra
from compiler.rendering.filetree import FileTree
from compiler.targets.aws.limits import policy_size
from compiler.targets.aws.lower import lower
from tests.aws.builders import ORIGIN, job, owner, resources, secret_job, target
from tests.aws.mocks import ACCOUNT, AMI
from tests.aws.projects import artifacts_of, run, scripts, statements

OWNED_LOG = owner().parameter("LOG")
UBUNTU = "/aws/service/canonical/ubuntu/server/24.04/stable/current/amd64/hvm/ebs-gp3/ami-id"


def test_one_cpu_node_has_exactly_these_resources_and_inputs(tmp_path):
    asked = resources(labels={"team": "nlp"}, disk_size=100)
    project = run(tmp_path, job(asked, setup="pip list\n", envs={"A": "1"}))
    name = "llama-pretrain-1"
    tags = {
        "triplane:set": "llama",
        "triplane:target": "us-east-1",
        "triplane:records": "team-bucket/ml/.triplane/llama",
        "triplane:work": "pretrain",
        "triplane:run": "1",
        "team": "nlp",
    }
    expected = {
        ("aws:ec2/securityGroup:SecurityGroup", name): {
            "description": f"Nodes of {name}",
            "vpcId": "vpc-0default",
            "tags": tags,
        },
        ("aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule", f"{name}-from-itself"): {
            "description": "All traffic from the other nodes",
            "securityGroupId": f"{name}-id",
            "referencedSecurityGroupId": f"{name}-id",
            "ipProtocol": "-1",
            "tags": tags,
        },
        ("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", f"{name}-to-itself"): {
            "description": "All traffic to the other nodes",
            "securityGroupId": f"{name}-id",
            "referencedSecurityGroupId": f"{name}-id",
            "ipProtocol": "-1",
            "tags": tags,
        },
        ("aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule", f"{name}-to-anywhere"): {
            "description": "Packages, data and AWS itself",
            "securityGroupId": f"{name}-id",
            "cidrIpv4": "0.0.0.0/0",
            "ipProtocol": "-1",
            "tags": tags,
        },
        ("aws:iam/instanceProfile:InstanceProfile", name): {"role": name, "tags": tags},
        ("aws:ec2/instance:Instance", f"{name}-0"): {
            "launchTemplate": {"id": f"{name}-id", "version": "1"},
            "subnetId": "subnet-0aaaaaaa",
            "tags": {**tags, "Name": f"{name}-0", "triplane:rank": "0"},
        },
    }
    found = {(item.type, item.name): item.inputs for item in project.resources}
    assert {key: found[key] for key in expected} == expected
    others = sorted({kind.rpartition(":")[2] for kind, _ in set(found) - set(expected)})
    assert others == ["BucketObjectv2", "LaunchTemplate", "Role", "RolePolicy"]

    template = dict(project.one("LaunchTemplate").inputs)
    boot = base64.b64decode(template.pop("userData")).decode()
    assert boot.startswith("#!/bin/bash\n")
    assert template == {
        "description": f"Nodes of {name}",
        "imageId": AMI,
        "instanceType": "m6i.2xlarge",
        "instanceInitiatedShutdownBehavior": "terminate",
        "iamInstanceProfile": {"arn": f"arn:aws:mock:::{name}"},
        "metadataOptions": {
            "httpEndpoint": "enabled",
            "httpTokens": "required",
            "httpPutResponseHopLimit": 1,
            "instanceMetadataTags": "enabled",
        },
        "blockDeviceMappings": [
            {
                "deviceName": "/dev/sda1",
                "ebs": {
                    "volumeSize": 100,
                    "volumeType": "gp3",
                    "iops": 3500,
                    "throughput": 218,
                    "encrypted": "true",
                    "deleteOnTermination": "true",
                },
            }
        ],
        "vpcSecurityGroupIds": [f"{name}-id"],
        "tagSpecifications": [
            {"resourceType": "volume", "tags": tags},
            {"resourceType": "network-interface", "tags": tags},
        ],
        "updateDefaultVersion": True,
        "tags": tags,
    }
    role = project.one("Role").inputs
    assert json.loads(role["assumeRolePolicy"])["Statement"] == [
        {
            "Effect": "Allow",
            "Action": "sts:AssumeRole",
            "Principal": {"Service": "ec2.amazonaws.com"},
        }
    ]
    assert project.calls == [
        (
            "aws:ec2/getSubnets:getSubnets",
            {"filters": [{"name": "vpc-id", "values": ["vpc-0default"]}]},
        ),
        ("aws:ec2/getVpc:getVpc", {"default": True}),
        ("aws:ssm/getParameter:getParameter", {"name": UBUNTU}),
    ]
    assert project.outputs == {name: {"image": AMI, "instances": [f"{name}-0-id"]}}


def test_the_boot_script_names_the_digests_of_exactly_the_uploaded_scripts(tmp_path):
    project = run(tmp_path, job(setup="pip list"))
    files = scripts(project)
    assert set(files) == {
        "enter.sh",
        "supervisor.sh",
        "bashrc.sh",
        "job.env",
        "launcher.sh",
        "node.sh",
        "peers.sh",
        "platform.sh",
        "prologue.sh",
        "run.sh",
        "setup.sh",
        "task.env",
    }
    boot = base64.b64decode(project.one("LaunchTemplate").inputs["userData"]).decode()
    listed = dict(
        reversed(line.split("  ")) for line in boot.splitlines() if re.match("[0-9a-f]{64}  ", line)
    )
    assert listed == {
        name: hashlib.sha256(text.encode()).hexdigest() for name, text in files.items()
    }
    keys = {item.inputs["key"] for item in project.of("BucketObjectv2")}
    folder = "ml/.triplane/llama/runs/us-east-1/pretrain.1/scripts"
    assert keys == {f"{folder}/{name}" for name in files}
    assert f"'s3://team-bucket/{folder}/'" in boot


def test_two_nodes_of_p5_have_efa_on_every_card_and_are_packed(tmp_path):
    asked = resources("H100:8", network_tier="best")
    project = run(tmp_path, job(asked, num_nodes=2))
    name = "llama-pretrain-1"
    template = project.one("LaunchTemplate").inputs
    assert template["instanceType"] == "p5.48xlarge"
    assert template["placement"] == {"groupName": name}
    assert "vpcSecurityGroupIds" not in template
    assert project.one("PlacementGroup").inputs["strategy"] == "cluster"
    interfaces = template["networkInterfaces"]
    places = [
        (item["networkCardIndex"], item["deviceIndex"], item.get("interfaceType"))
        for item in interfaces
    ]
    assert places[:2] == [(0, 0, None), (0, 1, "efa-only")]
    assert places[2:] == [(card, 0, "efa-only") for card in range(1, 32)]
    for item in interfaces:
        assert item["subnetId"] == "subnet-0aaaaaaa"
        assert item["securityGroups"] == [f"{name}-id"]
        assert item["deleteOnTermination"] == "true"
    nodes = project.of("Instance")
    assert [item.inputs["tags"]["triplane:rank"] for item in nodes] == ["0", "1"]
    for item in nodes:
        # EC2 refuses a subnet beside a template that names interfaces.
        assert "subnetId" not in item.inputs
        assert set(item.ignore_changes) == {"launchTemplate", "subnetId"}
        assert f"{name}-launcher.sh" in item.dependencies
    parameter = dict(project.calls[-1][1])["name"]
    assert "/x86_64/base-oss-nvidia-driver-gpu-" in parameter
    assert "NODES=2\n" in scripts(project)["job.env"]
    assert "EFA=32\n" in scripts(project)["job.env"]


def test_a_card_that_takes_no_efa_is_left_out(tmp_path):
    project = run(tmp_path, job(resources("B300:8", network_tier="best")))
    interfaces = project.one("LaunchTemplate").inputs["networkInterfaces"]
    efa = [i["networkCardIndex"] for i in interfaces if i.get("interfaceType") == "efa-only"]
    assert efa == list(range(1, 17))
    assert project.of("PlacementGroup") == []


def test_secrets_are_references_only(tmp_path):
    secret = secret_job()
    texts = [artifact.text for artifact in artifacts_of(secret)]
    project = run(tmp_path, secret)
    assert not any("CANARY" in text for text in [*texts, project.to_json(), repr(secret)])
    arns = {
        item["Resource"]: item["Action"]
        for item in statements(project)
        if item["Action"] in ("ssm:GetParameter", "secretsmanager:GetSecretValue")
    }
    ssm, manager = (
        f"arn:aws:ssm:us-east-1:{ACCOUNT}:",
        f"arn:aws:secretsmanager:us-east-1:{ACCOUNT}:",
    )
    assert arns == {
        f"{ssm}parameter/hf/token": "ssm:GetParameter",
        f"{ssm}parameter{OWNED_LOG}": "ssm:GetParameter",
        f"{manager}secret:wandb-??????": "secretsmanager:GetSecretValue",
    }
    assert (
        f"SECRETS=('HF_TOKEN=ssm:/hf/token' 'LOG=ssm:{OWNED_LOG}' "
        "'WANDB_API_KEY=secrets_manager:wandb')" in scripts(project)["job.env"]
    )


def test_a_role_may_touch_its_own_run_and_nothing_else(tmp_path):
    tree = FileTree("~/sky_workdir", "d" * 64, local="/src", files={"a": "x"})
    project = run(tmp_path, job(trees=(tree,)))
    bucket, folder = "arn:aws:s3:::team-bucket", "ml/.triplane/llama/runs/us-east-1/pretrain.1"
    s3 = [item for item in statements(project) if str(item["Action"]).startswith("s3:")]
    assert s3 == [
        {
            "Effect": "Allow",
            "Action": "s3:GetObject",
            "Resource": [f"{bucket}/{folder}/scripts/*", f"{bucket}/{folder}/state/*"],
        },
        {
            "Effect": "Allow",
            "Action": "s3:PutObject",
            "Resource": [
                f"{bucket}/{folder}/state/*",
                f"{bucket}/{folder}/logs/*",
                f"{bucket}/{folder}/outcome.json",
            ],
        },
        {
            "Effect": "Allow",
            "Action": "s3:ListBucket",
            "Resource": bucket,
            "Condition": {
                "StringLike": {"s3:prefix": [f"{folder}/scripts/*", f"{folder}/state/*"]}
            },
        },
        {
            "Effect": "Allow",
            "Action": "s3:GetObject",
            "Resource": f"{bucket}/ml/.triplane/files/{'d' * 64}.tar.gz",
        },
    ]
    wide = [item["Action"] for item in statements(project) if item["Resource"] == "*"]
    assert wide == [
        [
            "ssm:UpdateInstanceInformation",
            "ssmmessages:CreateControlChannel",
            "ssmmessages:CreateDataChannel",
            "ssmmessages:OpenControlChannel",
            "ssmmessages:OpenDataChannel",
        ]
    ]
    assert f"TREES=('{'d' * 64} folder ~/sky_workdir')" in scripts(project)["job.env"]


def test_a_container_image_runs_on_the_machine(tmp_path):
    image = Image(docker=f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/team/torch:2")
    asked = resources("T4:1", image=image)
    config = {"docker": {"run_options": ["--shm-size 8g", "-e 'A=b c'"]}}
    project = run(tmp_path, job(asked, config=config))
    env = scripts(project)["job.env"]
    assert f"CONTAINER_IMAGE='{image.docker}'" in env
    assert "CONTAINER_OPTIONS=('--shm-size' '8g' '-e' 'A=b c')" in env
    assert "ACCELERATOR='nvidia'" in env
    pulls = [item for item in statements(project) if "ecr:BatchGetImage" in item["Action"]]
    assert [item["Resource"] for item in pulls] == [
        f"arn:aws:ecr:us-west-2:{ACCOUNT}:repository/team/torch"
    ]
    assert project.one("LaunchTemplate").inputs["imageId"] == AMI


def test_an_own_image_has_its_root_device_looked_up(tmp_path):
    own = "ami-0aaaaaaaaaaaaaaaa"
    asked = resources(image=Image(by_region={"us-east-1": own}))
    project = run(tmp_path, job(asked))
    template = project.one("LaunchTemplate").inputs
    assert template["imageId"] == own
    assert template["blockDeviceMappings"][0]["deviceName"] == "/dev/xvda"
    assert ("aws:ec2/getAmi:getAmi", {"filters": [{"name": "image-id", "values": [own]}]}) in (
        project.calls
    )


def test_the_targets_settings_choose_image_network_and_account(tmp_path):
    spec = target(
        amis={"gpu": "/team/images/gpu"},
        vpc="vpc-0123456789abcdef0",
        subnets=["subnet-0bbbbbbb", "subnet-0aaaaaaa"],
        account=ACCOUNT,
        profile="research",
    )
    asked = resources("T4:1", infra=Infra("aws", None, "us-east-1b"))
    project = run(tmp_path, job(asked, spec=spec))
    calls = dict(project.calls)
    assert calls["aws:ssm/getParameter:getParameter"] == {"name": "/team/images/gpu"}
    assert calls["aws:ec2/getVpc:getVpc"] == {"id": "vpc-0123456789abcdef0"}
    assert calls["aws:ec2/getSubnets:getSubnets"]["filters"] == [
        {"name": "vpc-id", "values": ["vpc-0default"]},
        {"name": "subnet-id", "values": ["subnet-0bbbbbbb", "subnet-0aaaaaaa"]},
        {"name": "availability-zone", "values": ["us-east-1b"]},
    ]
    # The order of the settings, not that of the answer.
    assert project.one("Instance").inputs["subnetId"] == "subnet-0bbbbbbb"
    config = (tmp_path / "aws/us-east-1/Pulumi.llama.yaml").read_text()
    assert f'aws:allowedAccountIds:\n    - "{ACCOUNT}"\n' in config
    assert 'aws:profile: "research"\n' in config


def test_names_of_a_vpc_and_subnets_are_tags(tmp_path):
    project = run(tmp_path, job(spec=target(vpc='pro"d', subnets=["private-a"])))
    calls = dict(project.calls)
    assert calls["aws:ec2/getVpc:getVpc"] == {"tags": {"Name": 'pro"d'}}
    assert {"name": "tag:Name", "values": ["private-a"]} in (
        calls["aws:ec2/getSubnets:getSubnets"]["filters"]
    )


def test_spot_ports_and_disk_tiers_reach_the_template(tmp_path):
    asked = resources(use_spot=True, ports=("8080", "9000-9010"), disk_tier="ultra", disk_size=512)
    project = run(tmp_path, job(asked))
    template = project.one("LaunchTemplate").inputs
    assert template["instanceMarketOptions"] == {
        "marketType": "spot",
        "spotOptions": {
            "spotInstanceType": "one-time",
            "instanceInterruptionBehavior": "terminate",
        },
    }
    assert template["blockDeviceMappings"][0]["ebs"] == {
        "volumeSize": 512,
        "volumeType": "io2",
        "iops": 20000,
        "encrypted": "true",
        "deleteOnTermination": "true",
    }
    opened = {
        (item.inputs["fromPort"], item.inputs["toPort"], item.inputs["cidrIpv4"])
        for item in project.of("SecurityGroupIngressRule")
        if "cidrIpv4" in item.inputs
    }
    assert opened == {(8080, 8080, "0.0.0.0/0"), (9000, 9010, "0.0.0.0/0")}


def test_nothing_is_open_to_the_world_unless_asked(tmp_path):
    project = run(tmp_path, job())
    rules = project.of("SecurityGroupIngressRule")
    assert [item.inputs.get("cidrIpv4") for item in rules] == [None]


def test_a_task_without_run_keeps_its_nodes(tmp_path):
    project = run(tmp_path, job(script=None))
    template = project.one("LaunchTemplate").inputs
    assert template["instanceInitiatedShutdownBehavior"] == "stop"
    assert "ENDS=0\n" in scripts(project)["job.env"]
    assert "run.sh" not in scripts(project)
    assert "shutdown" not in base64.b64decode(template["userData"]).decode()


def test_several_nodes_with_accelerators_are_packed_without_efa_too(tmp_path):
    project = run(tmp_path, job(resources("L4:4"), num_nodes=2))
    assert project.one("PlacementGroup").inputs["strategy"] == "cluster"
    assert project.one("LaunchTemplate").inputs["placement"] == {"groupName": "llama-pretrain-1"}


@pytest.mark.parametrize(
    ("key", "where", "placement"),
    [
        ("capacity_blocks", {}, None),
        ("reservations", {}, None),
        ("reservations", {"placement_group": "training"}, {"groupName": "training"}),
    ],
)
def test_instances_start_in_the_zone_of_their_reservation(tmp_path, key, where, placement):
    reserved = {"id": "cr-0aaaaaaaaaaaaaaaa", "zone": "us-east-1b", **where}
    spec = target(**{key: {"p5": reserved}})
    project = run(tmp_path, job(resources("H100:8"), num_nodes=2, spec=spec))
    (filters,) = (dict(call)["filters"] for token, call in project.calls if "Subnets" in token)
    assert {"name": "availability-zone", "values": ["us-east-1b"]} in filters
    template = project.one("LaunchTemplate").inputs
    assert template.get("placement") == placement
    assert project.of("PlacementGroup") == []
    assert template["capacityReservationSpecification"] == {
        "capacityReservationTarget": {"capacityReservationId": "cr-0aaaaaaaaaaaaaaaa"}
    }


def test_the_size_of_a_policy_is_known_before_it_is_made(tmp_path):
    mounts = tuple(
        FileMount(f"/data/{number}", f"s3://bucket-{number}/and/a/prefix", ORIGIN)
        for number in range(6)
    )
    work = dataclasses.replace(
        secret_job(),
        resources=resources(image=Image(docker=f"{ACCOUNT}.dkr.ecr.us-west-2.amazonaws.com/a:2")),
        trees=(FileTree("~/sky_workdir", "d" * 64, local="/src", files={"a": "x"}),),
    )
    work = dataclasses.replace(
        work, task=dataclasses.replace(work.task, file_mounts=mounts), target=target(logs="/l")
    )
    project = run(tmp_path, work)
    real = len(re.sub(r"\s", "", str(project.one("RolePolicy").inputs["policy"])))
    workload = lower(work, Diagnostics())
    folder = f"{owner().place}/runs/us-east-1/{workload.run_key}"
    assert real <= policy_size(workload.statements, folder) <= 1.4 * real
