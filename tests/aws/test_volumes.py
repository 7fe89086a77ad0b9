"""Disks and file systems from their making to their deletion, with the real engine."""

from __future__ import annotations

import json

import pytest

from compiler.diagnostics import InvalidInput
from compiler.planning.outcomes import Action
from compiler.workflow import plan_destroy
from tests.aws.site import REGION
from tests.aws.test_deployer_life import change_of, resources_of

SCRATCH = "name: scratch\ntype: aws-ebs\ninfra: aws/us-east-1/us-east-1a\nsize: {size}\n"
SHARED = "name: shared\ntype: aws-efs\n"
TASK = """name: train
resources: {infra: aws, cpus: 8}
volumes: {/scratch: scratch, /shared: shared}
run: echo hi
"""


def disks(aws) -> dict[str, int]:
    found = aws.client("ec2").describe_volumes()["Volumes"]
    ours = {item["inputs"]["size"] for item in aws.world.of("Volume")}
    return {item["VolumeId"]: item["Size"] for item in found if item["Size"] in ours}


def identity(aws, name: str) -> str:
    record = json.loads(aws.objects()[f".triplane/lab/records/{REGION}/{name}.1.json"])
    return record["identity"]


@pytest.mark.timeout(900)
def test_volumes_are_made_once_mounted_grown_and_kept_until_their_deletion_is_asked_for(aws, lab):
    lab.task("scratch", SCRATCH.format(size=33))
    lab.task("shared", SHARED)
    lab.task("train", TASK)
    planned = lab.plan()
    assert resources_of(change_of(planned, "scratch")) == {"ebs.Volume": ("create",)}
    assert resources_of(change_of(planned, "shared"))["efs.MountTarget"] == ("create",)
    # The run's own resources alone, though its program has the volumes beside it.
    made = resources_of(change_of(planned))
    assert made["ec2.VolumeAttachment"] == ("create",)
    assert "ebs.Volume" not in made
    assert lab.apply(planned).exit_code == 0
    (disk,) = disks(aws)
    assert identity(aws, "scratch") == f"disk:{disk}"
    assert lab.status() == {"scratch.1": "running", "shared.1": "running", "train.1": "pending"}
    (attached,) = aws.world.of("VolumeAttachment")
    (node,) = aws.instances()
    assert attached["inputs"]["volumeId"] == disk
    assert attached["inputs"]["instanceId"] == node["InstanceId"]
    tags = {tag["Key"]: tag["Value"] for tag in node["Tags"]}
    assert tags["triplane:volume:scratch"] == disk
    assert tags["triplane:volume:shared"] == "10.0.0.9"
    assert not lab.plan().plan.has_changes

    # A disk grows while it is mounted; nothing else changes.
    lab.task("scratch", SCRATCH.format(size=44))
    change = change_of(planned := lab.plan(), "scratch")
    assert (change.action, change.reason) == (Action.UPDATE, "the volume changed: in place")
    assert resources_of(change) == {"ebs.Volume": ("update",)}
    assert lab.apply(planned).exit_code == 0
    assert identity(aws, "scratch") == f"disk:{disk}"
    assert aws.world.of("Volume")[0]["inputs"]["size"] == 44
    assert len(aws.instances()) == 1
    assert not lab.plan().plan.has_changes

    # The run ends and another mounts the same volumes.
    aws.outcome("train.1")
    aws.client("ec2").terminate_instances(InstanceIds=[node["InstanceId"]])
    lab.task("train", TASK.replace("echo hi", "echo again"))
    assert lab.apply().exit_code == 0
    (attached,) = aws.world.of("VolumeAttachment")
    assert attached["inputs"]["volumeId"] == disk

    # Nothing that holds data goes unasked.
    applied = lab.apply(plan_destroy(lab.stack()))
    assert applied.exit_code == 0, applied.failed
    assert aws.instances() == []
    assert len(aws.world.of("Volume")) == len(aws.world.of("FileSystem")) == 1
    applied = lab.apply(plan_destroy(lab.stack(), delete_volumes=True))
    assert applied.exit_code == 0, applied.failed
    assert aws.world.read() == {}
    assert disks(aws) == {}
    assert lab.status() == {}


@pytest.mark.timeout(900)
def test_a_volume_that_is_gone_is_not_made_anew_unasked(aws, lab):
    lab.task("scratch", SCRATCH.format(size=33))
    lab.task("train", TASK.replace(", /shared: shared", ""))
    assert lab.apply().exit_code == 0
    (disk,) = disks(aws)
    aws.client("ec2").delete_volume(VolumeId=disk)
    # What mounts it keeps nobody else from being made.
    lab.task("other", "name: other\nresources: {infra: aws, cpus: 8}\nrun: echo hi\n")
    change = change_of(planned := lab.plan(), "scratch")
    assert change.action is Action.SHOWN
    assert "it is gone with what it held" in change.reason or "vanished" in change.reason
    applied = lab.apply(planned)
    assert applied.exit_code == 0, applied.failed
    assert disks(aws) == {}
    assert len(aws.instances()) == 2
    change = change_of(planned := lab.plan(rerun=True), "scratch")
    assert change.action is Action.UPDATE
    assert lab.apply(planned).exit_code == 0
    assert len(disks(aws)) == 1
    assert lab.status()["scratch.1"] == "running"


@pytest.mark.timeout(900)
def test_what_cannot_be_changed_in_place_is_refused(aws, lab):
    lab.task("scratch", SCRATCH.format(size=33))
    assert lab.apply().exit_code == 0
    (disk,) = disks(aws)
    lab.task("scratch", SCRATCH.format(size=33).replace("aws-ebs", "aws-efs"))
    change = change_of(lab.plan(), "scratch")
    assert change.action is Action.REFUSED
    assert "`type` changed" in change.reason
    # Another zone is another disk: Pulumi keeps what is protected.
    lab.task("scratch", SCRATCH.format(size=44).replace("us-east-1a", "us-east-1b"))
    with pytest.raises(InvalidInput) as caught:
        lab.plan()
    (refused,) = caught.value.diagnostics
    assert refused.code == "aws-refused"
    assert "protect" in refused.message
    assert list(disks(aws)) == [disk]
    # Where it is asked for, it is made anew.
    lab.task("scratch", SHARED.replace("shared", "scratch"))
    assert lab.apply(delete_volumes=True).exit_code == 0
    assert disks(aws) == {}
    assert len(aws.world.of("FileSystem")) == 1
    assert identity(aws, "scratch").startswith("shared:fs-")
