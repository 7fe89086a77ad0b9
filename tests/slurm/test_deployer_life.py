"""The life of a run on a real cluster: submitted, seen, changed, replaced, removed."""

from __future__ import annotations

import dataclasses
import stat
from pathlib import Path

import pytest

from compiler.diagnostics import PlanOutdated, WorkFailed
from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, RunState
from compiler.rendering.filetree import read_tree
from compiler.targets.slurm.deployer import pending_fields
from tests.slurm.deployer_support import step, worlds

pytestmark = pytest.mark.slurm

HELD = {"options": "--hold"}


@pytest.fixture
def world(slurm_site, request, monkeypatch):
    """A set called like the test, on alpha over SSH as alice."""
    yield from worlds(slurm_site, request, monkeypatch)


def test_a_run_from_submission_to_its_end(world):
    wanted = step(world.set_name, "echo $SLURM_SUBMIT_DIR; exit 3", **HELD)
    record = world.execute(wanted)
    assert record.stage is Stage.CREATED
    assert [record.identity] == world.jobs()
    seen = world.only()
    assert seen.state.is_live
    assert seen.record == record
    assert seen.artifacts == {wanted.artifacts[0].path: wanted.artifacts[0].text}
    assert (world.folder() / "job.sbatch").read_text() == wanted.artifacts[0].text
    assert world.execute(wanted) == record  # the same step again submits nothing
    assert [record.identity] == world.jobs()

    world.sh("scontrol", "release", record.identity)
    ended = world.ended()
    assert (ended.state, ended.exit_code) == (RunState.FAILED, 3)
    written = Record.from_json(world.record_file().read_text())
    assert (written.stage, written.outcome, written.exit_code) == (Stage.ENDED, "failed", 3)
    assert list(world.deployer.logs(ended, follow=True, tail=None)) == [
        str(world.site.home("alice"))
    ]
    assert world.execute(wanted).outcome == "failed"
    assert [record.identity] == world.jobs()


def test_the_number_of_a_run_is_given_out_once(world):
    world.execute(step(world.set_name, "exit 0"))
    with pytest.raises(PlanOutdated, match="run 1 of train is taken"):
        world.execute(step(world.set_name, "exit 0", plan="another plan"))
    with pytest.raises(PlanOutdated, match="run 1 of train is taken"):
        world.execute(step(world.set_name, "exit 1"))
    assert len(world.jobs()) == 1


def test_a_waiting_run_shows_why_and_what_can_be_changed(world):
    world.execute(step(world.set_name, "exit 0", options="--hold --nice=7"))
    seen = world.only()
    assert (seen.state, seen.detail) == (RunState.PENDING, "PENDING (JobHeldUser)")
    assert seen.fields == {
        "time": "5:00",
        "partition": "cpu",
        "qos": "normal",
        "account": "research",
        "nice": "7",
    }
    assert seen.waiting_seconds in range(10)


def test_a_waiting_run_is_changed_in_place(world):
    first = world.execute(step(world.set_name, "exit 0", **HELD))
    before = world.only()
    changed = step(
        world.set_name,
        "exit 0",
        action="update",
        plan="plan-2",
        previous=before,
        minutes=9,
        partition="gpu",
        **HELD,
    )
    (live,) = before.artifacts.values()
    fields = pending_fields(live, changed.artifacts[0].text)
    assert fields is not None
    changed = dataclasses.replace(changed, fields=fields)
    record = world.execute(changed)
    assert record.identity == first.identity
    after = world.only()
    assert after.record == record
    assert record.spec_digest != first.spec_digest
    assert (after.fields["time"], after.fields["partition"]) == ("9:00", "gpu")
    assert list(after.artifacts.values()) == [changed.artifacts[0].text]
    assert world.sh("squeue", "-h", "-j", first.identity, "-o", "%j").strip() == record.name
    assert world.execute(changed) == record
    world.sh("scontrol", "release", first.identity)
    assert world.ended().state is RunState.SUCCEEDED
    with pytest.raises(PlanOutdated, match="no longer PENDING"):
        world.execute(changed)


def test_a_change_that_slurm_refuses_changes_nothing(world):
    world.execute(step(world.set_name, "exit 0", **HELD))
    before = world.only()
    changed = dataclasses.replace(
        step(world.set_name, "exit 0", action="update", previous=before, minutes=9, **HELD),
        fields={"time": "9", "qos": "nosuch"},
    )
    with pytest.raises(WorkFailed, match="Invalid qos specification") as failed:
        world.execute(changed)
    assert [item.code for item in failed.value.diagnostics] == ["slurm-qos-refused"]
    after = world.only()
    assert after == dataclasses.replace(before, waiting_seconds=after.waiting_seconds)


def test_files_of_a_run_are_put_back(world):
    wanted = step(world.set_name, "sleep 30")
    world.execute(wanted)
    world.until(lambda run: run.state is RunState.RUNNING)
    script = world.folder() / "job.sbatch"
    script.unlink()
    assert world.only().artifacts == {}
    world.execute(dataclasses.replace(wanted, action="update", previous=world.only()))
    assert script.read_text() == wanted.artifacts[0].text


def test_a_pending_run_is_replaced_by_exactly_one(world):
    first = world.execute(step(world.set_name, "exit 0", **HELD))
    second = world.execute(
        step(
            world.set_name,
            "exit 5",
            action="replace",
            run=2,
            plan="plan-2",
            previous=world.only(),
            **HELD,
        )
    )
    runs = world.deployer.observe().runs
    assert [(run.record.run, run.state) for run in runs] == [
        (1, RunState.CANCELLED),
        (2, RunState.PENDING),
    ]
    assert runs[0].record.stage is Stage.ENDED
    assert sorted(world.jobs()) == sorted([first.identity, second.identity])


def test_a_run_that_has_started_is_not_replaced_as_if_it_waited(world):
    first = world.execute(step(world.set_name, "sleep 60"))
    running = world.until(lambda run: run.state is RunState.RUNNING)
    waiting = dataclasses.replace(running, state=RunState.PENDING)
    wanted = step(world.set_name, "exit 5", action="replace", run=2, previous=waiting)
    with pytest.raises(PlanOutdated, match="it was pending"):
        world.execute(wanted)
    # The plan that took the number is bound to what it was made for, also when it goes on.
    with pytest.raises(PlanOutdated, match="it was pending"):
        world.execute(dataclasses.replace(wanted, previous=running))
    assert world.until(lambda run: True).state is RunState.RUNNING
    assert world.jobs() == [first.identity]
    last = world.deployer.observe().last_run("train")
    assert last is not None and last.record.run == 1

    second = world.execute(
        step(world.set_name, "sleep 60", action="replace", run=3, plan="p", previous=running)
    )
    states = {run.record.run: run.state for run in world.deployer.observe().runs}
    assert states[1] is RunState.CANCELLED
    assert states[3].is_live
    assert second.identity in world.jobs()


def test_a_removed_run_leaves_its_record(world):
    wanted = step(world.set_name, "sleep 60", secrets={"TOKEN": "x"})
    world.execute(wanted)
    running = world.until(lambda run: run.state is RunState.RUNNING)
    removal = dataclasses.replace(wanted, action="delete", previous=running, artifacts=())
    assert world.execute(removal).outcome == REMOVED
    assert not world.folder().exists()
    assert not list((world.state / "secrets").iterdir())
    assert world.sh("squeue", "-h", "-j", running.record.identity, "-o", "%T").strip() in (
        "",
        "CANCELLED",
    )
    observation = world.deployer.observe()
    assert observation.last_run("train") is None
    assert observation.highest_run("train") == 1
    assert world.execute(removal).outcome == REMOVED


def test_secrets_are_private_and_go_with_the_job(world):
    value = 'it\'s $HOME\n"secret" `date` \\ '
    body = 'printf %s "$TOKEN" >"$run/seen"; sleep 2'
    world.execute(step(world.set_name, body, secrets={"TOKEN": value}))
    file = world.state / "secrets" / "train.1.env"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    world.until(lambda run: run.state is RunState.RUNNING)
    assert file.exists()
    world.ended()
    assert not file.exists()
    assert (world.folder() / "seen").read_text() == value
    for path in world.state.rglob("*"):
        assert path.name == "seen" or not path.is_file() or value not in path.read_text()


def test_file_trees_are_uploaded_once(world, tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/run me.sh").write_text("echo ran")
    (tmp_path / "sub/run me.sh").chmod(0o755)
    (tmp_path / "link").symlink_to("sub/run me.sh")
    (tmp_path / "empty").mkdir()
    (tmp_path / "big").write_bytes(world.set_name.encode() + bytes(range(256)) * 20000)
    tree = read_tree(tmp_path, "~/sky_workdir")
    single = read_tree(tmp_path / "big", "/data/big")
    body = '"$SLURM_SUBMIT_DIR/.triplane/files/' + tree.digest + '/link"'
    said: list[str] = []
    wanted = step(world.set_name, body, uploads=(tree, single))
    world.deployer.execute(wanted, said.append)
    assert len([line for line in said if line.startswith("upload")]) == 2
    files = world.site.home("alice") / ".triplane/files"
    assert read_tree(files / tree.digest, "x").digest == tree.digest
    assert (files / single.digest / "big").read_bytes() == (tmp_path / "big").read_bytes()
    assert list(world.deployer.logs(world.ended(), follow=True, tail=None)) == ["ran"]
    said.clear()
    world.deployer.execute(
        step(world.set_name, body, run=2, plan="plan-2", uploads=(tree, single)), said.append
    )
    assert not [line for line in said if line.startswith("upload")]


def test_a_tree_that_changed_since_the_plan_is_not_uploaded(world, tmp_path):
    Path(tmp_path / "code.py").write_text("old")
    tree = read_tree(tmp_path, "~/sky_workdir")
    Path(tmp_path / "code.py").write_text("new")
    with pytest.raises(WorkFailed, match="changed while it was being applied"):
        world.execute(step(world.set_name, "exit 0", uploads=(tree,)))
    assert world.jobs() == []


def test_what_slurm_refuses_leaves_nothing(world):
    for options, words, code in (
        ("--account=teaching", "Invalid account", "slurm-account-refused"),
        ("--qos=nosuch", "Invalid qos", "slurm-qos-refused"),
        ("--partition=nosuch", "invalid partition", "slurm-partition-refused"),
        ("--time=30-0", "time limit", "slurm-time-refused"),
        ("--gres=gpu:h100:9 --partition=gpu", "node configuration", "slurm-nodes-refused"),
        ("--constraint=nosuch", "Invalid feature", "slurm-feature-refused"),
    ):
        wanted = step(world.set_name, "exit 0", options=options, secrets={"TOKEN": "x"})
        with pytest.raises(WorkFailed, match=words) as failed:
            world.execute(wanted)
        assert [item.code for item in failed.value.diagnostics] == [code]
        assert world.deployer.observe().runs == ()
        assert not world.folder().exists()
        assert not list((world.state / "secrets").iterdir())
    world.execute(step(world.set_name, "exit 0"))  # its number was given back


def test_cancelled_by_triplane_and_by_hand(world):
    world.execute(step(world.set_name, "exit 0", **HELD))
    world.deployer.cancel(world.only())
    run = world.only()
    assert run.state is RunState.CANCELLED
    assert "before it started" in run.detail or run.record.outcome == "cancelled"
    world.execute(step(world.set_name, "sleep 60", run=2))
    running = world.until(lambda item: item.state is RunState.RUNNING, run=2)
    world.sh("scancel", running.record.identity)
    ended = world.ended(run=2)
    assert ended.state is RunState.CANCELLED
    assert ended.record.outcome == "cancelled"


def test_a_requeued_run_is_pending_again(world):
    record = world.execute(step(world.set_name, "sleep 60"))
    world.until(lambda run: run.state is RunState.RUNNING and (world.folder() / "started").exists())
    world.sh("scontrol", "requeuehold", record.identity)
    held = world.until(lambda run: run.state is RunState.PENDING)
    assert held.detail.startswith("PENDING (")
    assert held.record.stage is Stage.CREATED


def test_an_array_is_one_run(world):
    """Scripts that people bring along may be arrays."""
    body = 'touch "$run/$SLURM_ARRAY_TASK_ID"; exit $((SLURM_ARRAY_TASK_ID % 2 * 3))'
    record = world.execute(step(world.set_name, body, options="--array=1-2 --hold"))
    assert world.only().detail == "PENDING (JobHeldUser)"
    world.sh("scontrol", "release", record.identity)
    assert world.ended().state is RunState.FAILED
    second = world.execute(step(world.set_name, "sleep 60", run=2, options="--array=1-2"))
    running = world.until(lambda run: run.state is RunState.RUNNING, run=2)
    world.deployer.cancel(running)
    assert world.ended(2).state is RunState.CANCELLED
    assert world.sh("squeue", "-h", "-j", str(second.identity), "-o", "%T") == ""


def test_the_same_set_from_the_login_node_itself(world):
    local = world.local()
    wanted = step(world.set_name, "exit 0")
    record = local.execute(wanted, lambda _: None)
    assert world.deployer.execute(wanted, lambda _: None) == record
    world.ended()
    assert local.observe() == world.deployer.observe()
    assert local.check() == world.deployer.check()
