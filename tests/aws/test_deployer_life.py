"""A set from its first plan to its end, with the real engine and the stand-in's AWS.

One story a test, as every step of it takes the engine some seconds.
"""

from __future__ import annotations

import json

import pytest

from compiler.planning.outcomes import Action
from compiler.planning.plan_file import from_json, to_json
from tests.aws.site import REGION

TASK = """name: train
num_nodes: 2
resources: {{infra: aws, accelerators: "H100:8", network_tier: best{more}}}
run: {run}
"""


def change_of(planned, work: str = "train"):
    (found,) = [item for item in planned.plan.works if item.work == work]
    return found


def resources_of(change) -> dict[str, tuple[str, ...]]:
    """kind -> actions of the resources that the engine names."""
    found: dict[str, list[str]] = {}
    for item in change.objects:
        if item.artifact is None and item.name.count(" ") == 1:
            found.setdefault(item.name.partition(" ")[0], []).append(str(item.action))
    return {kind: tuple(sorted(actions)) for kind, actions in sorted(found.items())}


@pytest.mark.timeout(900)
def test_plan_apply_drift_outcome_next_run_and_destroy(aws, lab):
    lab.task("train", TASK.format(run="echo one", more=""))
    planned = lab.plan()
    change = change_of(planned)
    assert change.action is Action.CREATE
    made = resources_of(change)
    assert made["ec2.Instance"] == ("create", "create")
    assert made["ec2.LaunchTemplate"] == made["ec2.PlacementGroup"] == ("create",)
    assert "aws.Run" not in made
    assert f"aws/{REGION}/workloads/lab_train_1.py" in {item.path for item in change.objects}
    assert from_json(to_json(planned.plan)) == planned.plan
    assert aws.world.read() == {}  # a plan makes nothing

    told: list[str] = []
    applied = lab.apply(planned, told.append)
    assert applied.exit_code == 0, applied.failed
    assert "create ec2.Instance lab-train-1-1" in told
    nodes = aws.instances()
    assert len(nodes) == 2
    record = json.loads(aws.objects()[f".triplane/lab/records/{REGION}/train.1.json"])
    assert set(record["identity"].split(",")) == {node["InstanceId"] for node in nodes}
    assert record["stage"] == "created"
    assert lab.status() == {"train.1": "pending"}

    # A newer AMI behind the parameter replaces nothing that runs, and the plan applied again
    # knows its own work.
    parameter = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-24.04"
    aws.say("answers", {f"{parameter}/latest/ami-id": "ami-0fedcba9876543210"})
    assert not lab.plan().plan.has_changes
    again = lab.apply(planned)
    assert again.exit_code == 0
    assert {result.note for result in again.results} == {"done by an earlier apply"}

    # Drift is shown with its field, and healed.
    with aws.world.changed() as world:
        (group,) = [item for item in world.values() if item["type"].endswith(":SecurityGroup")]
        group["inputs"]["tags"]["team"] = "somebody"
    planned = lab.plan()
    change = change_of(planned)
    assert change.action is Action.UPDATE
    assert change.reason == "drift: ec2.SecurityGroup lab-train-1 changed by hand"
    (item,) = change.objects
    assert [(field.path, field.before) for field in item.fields] == [("tags.team", "somebody")]
    assert lab.apply(planned).exit_code == 0
    assert "team" not in aws.world.of("SecurityGroup")[0]["inputs"]["tags"]
    assert {node["InstanceId"] for node in aws.instances()} == set(record["identity"].split(","))

    # Its nodes end, the outcome stays; nothing is made again because it ended.
    ids = record["identity"].split(",")
    aws.outcome("train.1")
    aws.client("ec2").terminate_instances(InstanceIds=ids)
    assert lab.status() == {"train.1": "succeeded"}
    planned = lab.plan()
    assert change_of(planned).action is Action.DONE
    assert not planned.plan.has_changes

    # Another task is another run; what the first one left goes with that apply.
    lab.task("train", TASK.format(run="echo two", more=""))
    planned = lab.plan()
    change = change_of(planned)
    assert (change.action, change.run) == (Action.CREATE, 2)
    assert resources_of(change)["ec2.LaunchTemplate"] == ("create", "delete")
    assert lab.apply(planned).exit_code == 0
    assert [item["name"] for item in aws.world.of("LaunchTemplate")] == ["lab-train-2"]
    assert {item["InstanceId"] for item in aws.instances()}.isdisjoint(ids)
    assert lab.status() == {"train.1": "succeeded", "train.2": "pending"}

    # Destroy takes all, the records stay.
    from compiler.workflow import plan_destroy

    applied = lab.apply(plan_destroy(lab.stack()))
    assert applied.exit_code == 0, applied.failed
    assert aws.world.read() == {}
    assert aws.instances() == []
    assert aws.pulumi_state() == {}
    assert lab.status() == {}
    kept = json.loads(aws.objects()[f".triplane/lab/records/{REGION}/train.2.json"])
    assert kept["outcome"] == "removed"


@pytest.mark.timeout(900)
def test_a_pending_run_is_replaced_and_settings_of_the_target_replace_what_they_force(aws, lab):
    lab.task("train", TASK.format(run="echo one", more=""))
    assert lab.apply().exit_code == 0
    first = {node["InstanceId"] for node in aws.instances()}

    # A setting that concerns the project: the engine says what forces the replacement.
    other = type(lab)(lab.folder.parent / "other", vpc="vpc-0fedcba9876543210")
    other.task("train", TASK.format(run="echo one", more=""))
    change = change_of(other.plan(), "_project")
    assert change.action is Action.UPDATE
    assert "ec2.SecurityGroup lab-train-1 is replaced: its vpcId" in change.note
    assert resources_of(change)["ec2.SecurityGroup"] == ("replace",)

    # A new digest of a pending run.
    lab.task("train", TASK.format(run="echo two", more=", disk_size: 512"))
    change = change_of(planned := lab.plan())
    assert (change.action, change.run, change.last_run) == (Action.REPLACE, 2, 1)
    assert [item.field for item in change.because] == ["resources.disk_size", "run"]
    assert lab.apply(planned).exit_code == 0
    assert len(aws.instances()) == 2
    assert first == {node["InstanceId"] for node in aws.instances("terminated")}
    assert lab.status() == {"train.1": "cancelled", "train.2": "pending"}
    assert len(aws.world.of("LaunchTemplate")) == 1

    # Running work is cancelled, and its log is there.
    s3, runs = aws.client("s3"), f".triplane/lab/runs/{REGION}"
    for key, text in (("state/0.alive", "1"), ("logs/0.log", "a\nb\n"), ("logs/1.log", "c")):
        s3.put_object(Bucket="lab-runs", Key=f"{runs}/train.2/{key}", Body=text.encode())
    assert lab.status()["train.2"] == "running"
    from compiler.workflow import cancel, logs

    stack = lab.stack()
    assert list(logs(stack, "train", follow=False)) == [
        "(rank 0) a",
        "(rank 0) b",
        "(rank 1) c",
    ]
    assert list(logs(stack, "train", follow=False, tail=1)) == ["(rank 0) b", "(rank 1) c"]
    assert cancel(stack, ["train"]) == [(f"train run 2 on {REGION} cancelled", None)]
    assert lab.status()["train.2"] == "cancelled"
    assert aws.instances() == []
    assert next(iter(logs(stack, "train", follow=True))) == "(rank 0) a"
