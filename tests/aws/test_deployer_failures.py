"""Creations that fail, applies that are killed, locks, missing tools, and secrets."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

from compiler.diagnostics import InvalidInput, LockHeld, TargetUnreachable, WorkFailed
from compiler.model import Overrides
from compiler.planning.outcomes import Action
from compiler.planning.plan_file import to_json
from compiler.targets.aws.ownership import owner_of
from compiler.targets.pulumi.cli import backend_url
from compiler.targets.registry import deployer_of
from compiler.workflow import apply_plan, cancel, plan, plan_destroy, secrets_for, unlock
from tests.aws.site import BUCKET, REGION, TOP, Set
from tests.aws.test_deployer_life import change_of, resources_of

TASK = "name: train\nnum_nodes: 2\nresources: {infra: aws, cpus: 8}\nrun: echo hi\n"
INSTANCE = "aws:ec2/instance:Instance"


def pending_operations(aws) -> list[dict]:
    latest = aws.pulumi_state()["checkpoint"]["latest"]
    return latest.get("pending_operations") or []


def test_a_creation_that_fails_half_way_is_completed_by_the_next_apply(aws, lab):
    lab.task("train", TASK)
    aws.say("faults", {"lab-train-1-1": "InsufficientInstanceCapacity: no m6i.2xlarge left"})
    applied = lab.apply()
    assert applied.exit_code == 1
    (failed,) = applied.failed
    assert "InsufficientInstanceCapacity: no m6i.2xlarge left" in str(failed.error)
    assert len(aws.instances()) == 1
    assert lab.status() == {"train.1": "pending"}

    aws.say("faults", {})
    change = change_of(planned := lab.plan())
    assert change.action is Action.UPDATE
    assert change.reason == "drift: ec2.Instance lab-train-1-1 is missing"
    assert resources_of(change) == {"ec2.Instance": ("create",)}
    assert lab.apply(planned).exit_code == 0
    assert len(aws.instances()) == 2
    assert not lab.plan().plan.has_changes


def test_an_apply_that_is_killed_is_healed_and_starts_nothing_twice(aws, lab):
    lab.task("train", TASK)
    aws.say("slow", {INSTANCE: 120})
    program = "from compiler.cli.main import entry; entry()"
    command = [sys.executable, "-c", program, "apply", "--auto-approve"]
    environment = {**os.environ, "PYTHONPATH": str(TOP)}
    process = subprocess.Popen(
        [*command, "--stack", str(lab.stack_file)],
        env=environment,
        cwd=lab.folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not aws.world.of("Instance") and time.monotonic() < deadline:
        time.sleep(0.2)
    os.killpg(process.pid, signal.SIGKILL)  # the engine and the provider with it
    process.wait()
    lost = {node["InstanceId"] for node in aws.instances()}
    assert lost
    assert pending_operations(aws)
    aws.say("slow", {})

    planned = lab.plan()
    assert change_of(planned).action is Action.UPDATE
    with pytest.raises(LockHeld, match=r"locked by .* pid .*that process is gone: triplane unlock"):
        lab.apply(planned)
    ((key, holder, error),) = unlock(lab.stack())
    assert (key, error) == (REGION, None)
    assert f"pid {process.pid}" in holder
    assert lab.apply(planned).exit_code == 0
    assert len(aws.instances()) == 2
    assert lost.isdisjoint({node["InstanceId"] for node in aws.instances()})
    assert pending_operations(aws) == []
    assert not lab.plan().plan.has_changes


def test_a_cancellation_that_fails_half_way_leaves_the_run_live_until_its_nodes_are_gone(aws, lab):
    lab.task("train", TASK)
    assert lab.apply().exit_code == 0
    aws.say("stuck", {"lab-train-1-1": "UnauthorizedOperation: TerminateInstances"})
    stack = lab.stack()
    ((_, error),) = cancel(stack, ["train"])
    assert "UnauthorizedOperation: TerminateInstances" in str(error)
    assert len(aws.instances()) == 1
    assert lab.status() == {"train.1": "pending"}
    change = change_of(lab.plan())  # nobody puts back what is to go
    assert change.action is Action.NOOP
    assert "its cancellation did not finish, 1 of its nodes are there" in change.reason

    aws.say("stuck", {})
    assert cancel(stack, ["train"]) == [(f"train run 1 on {REGION} cancelled", None)]
    assert aws.instances() == []
    assert aws.world.read() == {}
    assert lab.status() == {"train.1": "cancelled"}


def test_what_a_cancellation_left_goes_with_the_next_apply(aws, lab):
    lab.task("train", TASK)
    assert lab.apply().exit_code == 0
    aws.say("stuck", {INSTANCE: "RequestLimitExceeded: slow down"})
    ((_, error),) = cancel(lab.stack(), ["train"])
    assert "RequestLimitExceeded" in str(error)
    aws.say("stuck", {})
    lab.task("other", TASK.replace("train", "other"))
    assert lab.apply().exit_code == 0
    assert {item["name"] for item in aws.world.of("Instance")} == {"lab-other-1-0", "lab-other-1-1"}
    assert lab.status() == {"other.1": "pending", "train.1": "cancelled"}


def test_a_set_of_the_same_name_with_records_elsewhere_is_another(aws, lab, tmp_path, monkeypatch):
    other = Set(tmp_path / "other", files={"bucket": f"s3://{BUCKET}/other"})
    for one, value in ((lab, "first"), (other, "second")):
        monkeypatch.setenv("HF_TOKEN", value)
        one.task("train", TASK + "secrets: {HF_TOKEN: null}\n")
        given = Overrides(secret=(("HF_TOKEN", None),))
        planned = plan([], one.stack(), overrides=given, environ=dict(os.environ))
        applied = apply_plan(planned.plan, one.stack(), secrets_for(planned, one.stack()))
        assert applied.exit_code == 0, applied.failed
    assert len(aws.instances()) == 4
    values = {
        aws.client("ssm").get_parameter(Name=item["Name"], WithDecryption=True)["Parameter"][
            "Value"
        ]
        for item in aws.client("ssm").describe_parameters()["Parameters"]
    }
    assert values == {"first", "second"}
    assert cancel(lab.stack(), ["train"]) == [(f"train run 1 on {REGION} cancelled", None)]
    assert len(aws.instances()) == 2
    assert lab.status() == {"train.1": "cancelled"}
    assert other.status() == {"train.1": "pending"}


def test_nodes_that_are_taken_away_are_not_made_again(aws, lab):
    lab.task("train", TASK)
    assert lab.apply().exit_code == 0
    aws.client("ec2").terminate_instances(
        InstanceIds=[node["InstanceId"] for node in aws.instances()]
    )
    change = change_of(lab.plan())
    assert change.action is Action.SHOWN
    assert "vanished" in change.reason
    change = change_of(planned := lab.plan(rerun=True))
    assert (change.action, change.run) == (Action.CREATE, 2)
    assert lab.apply(planned).exit_code == 0
    assert lab.status() == {"train.1": "vanished", "train.2": "pending"}


def test_secrets_are_in_no_state_event_log_or_object(aws, lab, monkeypatch):
    canary = "CANARY-c2VjcmV0"
    monkeypatch.setenv("HF_TOKEN", canary)
    lab.task("train", TASK + "secrets: {HF_TOKEN: null}\n")
    stack = lab.stack()
    given = Overrides(secret=(("HF_TOKEN", None),))
    planned = plan([], stack, overrides=given, environ=dict(os.environ))
    told: list[str] = []
    applied = apply_plan(planned.plan, stack, secrets_for(planned, stack), told.append)
    assert applied.exit_code == 0, applied.failed
    ssm = aws.client("ssm")
    name = owner_of(stack, stack.targets[REGION]).parameter("HF_TOKEN")
    there = ssm.get_parameter(Name=name, WithDecryption=True)["Parameter"]
    assert (there["Value"], there["Type"]) == (canary, "SecureString")
    everything = "\n".join(
        [
            aws.texts(),
            str(aws.world.read()),
            str(aws.objects()),
            to_json(planned.plan),
            *told,
        ]
    )
    assert "train" in everything
    assert canary not in everything
    assert lab.apply(plan_destroy(stack)).exit_code == 0
    assert ssm.describe_parameters()["Parameters"] == []


def test_what_the_provider_refuses_is_an_error_of_the_plan(aws, lab):
    lab.task("train", TASK)
    aws.say("refusals", {"aws:ec2/launchTemplate:LaunchTemplate": "no such instance type"})
    with pytest.raises(InvalidInput) as caught:
        lab.plan()
    (item,) = caught.value.diagnostics
    assert item.code == "aws-refused"
    assert item.message == "ec2.LaunchTemplate lab-train-1: no such instance type"
    assert item.span.source.path.endswith("train.yaml")


def test_a_second_apply_of_the_set_is_kept_out(aws, lab):
    stack = lab.stack()
    first = deployer_of(stack, stack.targets[REGION])
    second = deployer_of(stack, stack.targets[REGION])
    first.lock("anna@laptop pid 1 plan a\n")
    first.lock("anna@laptop pid 1 plan a\n")  # its own
    with pytest.raises(LockHeld, match="locked by anna@laptop pid 1"):
        second.lock("otto@ci pid 2 plan b\n")
    second.unlock()  # took nothing, gives nothing back
    with pytest.raises(LockHeld):
        second.lock("otto@ci pid 2 plan b\n")
    first.unlock()
    second.lock("otto@ci pid 2 plan b\n")


def test_a_missing_pulumi_command_is_said_with_how_to_install_it(aws, lab, monkeypatch):
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    stack = lab.stack()
    with pytest.raises(TargetUnreachable, match=r"get\.pulumi\.com") as caught:
        deployer_of(stack, stack.targets[REGION]).observe()
    assert caught.value.exit_code == 3
    lab.task("train", TASK)
    planned = lab.plan()
    assert not planned.plan.complete
    assert "get.pulumi.com" in planned.plan.targets[0].reason


def test_a_state_that_the_next_ci_job_may_not_have_is_refused(tmp_path):
    lab = Set(tmp_path / "a")
    stack = lab.stack()
    target = stack.targets[REGION]
    here = f"file://{tmp_path / 'a' / '.triplane' / 'pulumi'}"
    assert backend_url(stack, target, {}) == here
    assert backend_url(stack, target, {"PULUMI_BACKEND_URL": "s3://x"}) == "s3://x"
    with pytest.raises(WorkFailed, match="shared_backend"):
        backend_url(stack, target, {"CI": "true"})
    shared = Set(tmp_path / "b", backend="file:///srv/pulumi", shared_backend=True).stack()
    url = backend_url(shared, shared.targets[REGION], {"CI": "true"})
    assert url == "file:///srv/pulumi"


def test_credentials_of_another_account_are_refused(aws, tmp_path):
    stack = Set(tmp_path / "c", account="999999999999").stack()
    with pytest.raises(TargetUnreachable, match="the stack says 999999999999"):
        deployer_of(stack, stack.targets[REGION]).check()
    stack = Set(tmp_path / "d").stack()
    said = deployer_of(stack, stack.targets[REGION]).check()
    assert "us-east-1, bucket lab-runs, Pulumi" in said


def test_a_missing_bucket_is_a_target_that_cannot_be_reached(aws, tmp_path):
    stack = Set(tmp_path / "e", files={"bucket": "s3://nobodys-bucket"}).stack()
    with pytest.raises(TargetUnreachable, match="NoSuchBucket"):
        deployer_of(stack, stack.targets[REGION]).observe()
