"""What a look says of runs, and the ways into one: records and instances, without the engine."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.planning.records import Record, Stage
from compiler.targets.aws.deployer import attach
from compiler.targets.aws.deployer.site import Site
from compiler.targets.aws.deployer.states import Facts, Node, classify
from compiler.targets.interface import Streams
from compiler.targets.registry import deployer_of
from tests.aws.site import BUCKET, REGION

RECORD = Record(
    set="lab",
    work="train",
    run=1,
    target=REGION,
    kind="aws",
    name="lab-train-1",
    spec_digest="0" * 64,
    files_digest="0" * 64,
    stage=Stage.CREATED,
    identity="i-1,i-2",
)
CANCELLING = replace(RECORD, outcome="cancelled")
INTENT = replace(RECORD, stage=Stage.INTENT, identity=None)
RUNNING = (Node("i-1", "running"), Node("i-2", "running"))
GONE = (Node("i-1", "terminated", "(Server.SpotInstanceTermination)"), Node("i-2", "terminated"))
FAILED = '{"outcome": "failed", "exit_code": 3, "rank": 1, "phase": "setup"}'


@pytest.mark.parametrize(
    ("record", "facts", "state", "detail"),
    [
        (RECORD, Facts(nodes=RUNNING), "pending", "its nodes are booting"),
        (RECORD, Facts(nodes=RUNNING, beats=[0]), "running", ""),
        (RECORD, Facts(nodes=RUNNING[:1], beats=[0]), "running", "1 of 2 nodes are gone"),
        (RECORD, Facts(nodes=(Node("i-1", "stopped"),)), "pending", "stopped"),
        (RECORD, Facts(nodes=(), age=5), "pending", "EC2 does not list its nodes yet"),
        (RECORD, Facts(nodes=(), age=4000), "vanished", "its nodes are gone"),
        (RECORD, Facts(nodes=GONE), "vanished", "its nodes are gone (Server.Spot"),
        (RECORD, Facts(nodes=GONE, outcome=FAILED), "failed", "in setup on rank 1"),
        (RECORD, Facts(nodes=None, beats=[1]), "running", "EC2 does not say"),
        (RECORD, Facts(outcome="{"), "unknown", "cannot be read"),
        (CANCELLING, Facts(nodes=RUNNING, has_program=True), "pending", "2 of its nodes are there"),
        (CANCELLING, Facts(nodes=RUNNING, has_program=True, beats=[0]), "running", "again"),
        (CANCELLING, Facts(nodes=None, has_program=True), "pending", "its nodes may be there"),
        (CANCELLING, Facts(nodes=GONE, has_program=True, outcome=FAILED), "cancelled", ""),
        (CANCELLING, Facts(nodes=()), "cancelled", ""),
        (INTENT, Facts(), "cancelled", "never started"),
        (INTENT, Facts(has_program=True), "pending", "did not finish"),
    ],
)
def test_the_state_of_a_run(record, facts, state, detail):
    verdict = classify(record, facts)
    assert verdict.state == state
    assert detail in verdict.detail
    is_final = state in ("vanished", "failed") or (record is CANCELLING and state == "cancelled")
    assert verdict.final == is_final


@pytest.fixture
def site(aws, lab) -> Site:
    stack = lab.stack()
    return Site(stack, stack.targets[REGION])


def test_a_record_is_written_only_where_nobody_else_did(site):
    first = site.store.create(RECORD)
    assert first is not None
    assert site.store.create(RECORD) is None
    ended = site.store.write(first, replace(RECORD, stage=Stage.ENDED, outcome="x"))
    assert site.store.find("train.1").record.outcome == "x"
    with pytest.raises(PlanOutdated, match=r"train\.1 was changed meanwhile"):
        site.store.write(first, INTENT)
    assert site.store.write(ended, INTENT).record == INTENT


def test_a_record_that_cannot_be_read_is_named(site, aws):
    key = f".triplane/lab/records/{REGION}/train.1.json"
    aws.client("s3").put_object(Bucket=BUCKET, Key=key, Body=b"{")
    with pytest.raises(WorkFailed, match=f"s3://{BUCKET}/{key} cannot be read"):
        site.store.all()


def test_a_command_runs_on_the_instance_of_its_rank(aws, lab, site, tmp_path, monkeypatch):
    ec2 = aws.client("ec2")
    answer = ec2.run_instances(ImageId="ami-0123456789abcdef0", MinCount=2, MaxCount=2)
    ids = [item["InstanceId"] for item in answer["Instances"]]
    for rank, one in enumerate(ids):
        tags = {**site.owner.tags, "triplane:work": "train", "triplane:run": "1"}
        tags["triplane:rank"] = str(rank)
        ec2.create_tags(
            Resources=[one],
            Tags=[{"Key": key, "Value": value} for key, value in tags.items()],
        )
    site.store.create(replace(RECORD, identity=",".join(ids)))
    stack = lab.stack()
    deployer = deployer_of(stack, stack.targets[REGION])
    (run,) = deployer.observe(with_artifacts=False).runs
    with open(tmp_path / "out", "wb") as out:
        streams = Streams(None, out.fileno(), out.fileno())
        assert deployer.exec(run, ["nvidia-smi", "-L $HOME"], streams, rank=1) == 0
        with pytest.raises(WorkFailed, match="rank 2 of train is not there"):
            deployer.exec(run, ["true"], streams, rank=2)
        (sent,) = aws.client("ssm").list_commands()["Commands"]
        assert ids[1] in sent["InstanceIds"]  # moto adds others of its own
        assert sent["Parameters"]["commands"] == [
            "sudo bash /opt/triplane/scripts/enter.sh nvidia-smi '-L $HOME'"
        ]
        assert sent["Parameters"]["executionTimeout"] == ["172800"]  # an hour if not given

        # A terminal is the AWS CLI's.
        terminal = Streams(0, out.fileno(), out.fileno(), terminal=True)
        tools = tmp_path / "tools"
        tools.mkdir()
        monkeypatch.setenv("PATH", f"{tools}:/usr/bin:/bin")
        with pytest.raises(WorkFailed, match="needs aws"):
            deployer.exec(run, ["bash", "-i"], terminal, rank=0)
        for name in ("aws", "session-manager-plugin"):
            (tools / name).write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >{tmp_path}/words\nexit 7\n')
            (tools / name).chmod(0o755)
        assert deployer.exec(run, ["bash", "-i"], terminal, rank=0) == 7
    words = (tmp_path / "words").read_text().splitlines()
    assert words[:4] == ["ssm", "start-session", "--target", ids[0]]
    assert json.loads(words[-1]) == {
        "command": ["sudo bash /opt/triplane/scripts/enter.sh bash -i"]
    }
    ec2.terminate_instances(InstanceIds=ids)
    with pytest.raises(WorkFailed, match=r"has ended \(vanished\)"):
        deployer.exec(run, ["true"], Streams(None, 1, 2), rank=0)


def test_a_command_that_nobody_waits_for_any_more_is_cancelled(site):
    class Ssm:
        cancelled: tuple[str, list[str]] | None = None

        def send_command(self, **_):
            return {"Command": {"CommandId": "c-1"}}

        def get_command_invocation(self, **_):
            raise KeyboardInterrupt

        def cancel_command(self, CommandId, InstanceIds):
            self.cancelled = (CommandId, InstanceIds)

    site.account._clients["ssm"] = ssm = Ssm()
    with pytest.raises(KeyboardInterrupt):
        attach._run(site, "i-1", "sleep 100000", Streams(None, 1, 2))
    assert ssm.cancelled == ("c-1", ["i-1"])
