"""What goes wrong on a real cluster: killed applies, lost records, hosts that are away."""

from __future__ import annotations

import dataclasses
import multiprocessing
import os
import signal
import subprocess

import pytest

from compiler.diagnostics import LockHeld, TargetUnreachable, WorkFailed
from compiler.model import Deployer as DeployerKind
from compiler.planning.records import Record, Stage
from compiler.planning.states import RunState
from compiler.rendering.filetree import read_tree
from compiler.targets.slurm.deployer import SlurmDeployer
from tests.slurm.deployer_client import Request, execute_and_die
from tests.slurm.deployer_support import World, set_name, stack, step, target, worlds

pytestmark = pytest.mark.slurm

HELD = {"options": "--hold"}

# A server without threads forks the processes that are killed: none of them imports anything.
_processes = multiprocessing.get_context("forkserver")
_processes.set_forkserver_preload(["fabric", "tests.slurm.deployer_client"])


@pytest.fixture
def world(slurm_site, request, monkeypatch):
    """A set called like the test, on alpha over SSH as alice."""
    yield from worlds(slurm_site, request, monkeypatch)


def killed(world, wanted, after, in_flight=None):
    """Execute the step in a process that is killed after so many answers."""
    request = Request(world.set_name, world.cluster, world.options, wanted, after, in_flight)
    process = _processes.Process(target=execute_and_die, args=(request, dict(os.environ)))
    process.start()
    process.join(60)
    assert process.exitcode == -signal.SIGKILL


@pytest.mark.parametrize("after", [0, 1, 2, 3, 4])
def test_killed_between_two_calls(world, tmp_path, after):
    """reserve, upload, collect, submit: what was cut off is completed, and there is one job."""
    (tmp_path / "code.py").write_text(f"{world.set_name} {after}")
    tree = read_tree(tmp_path, "~/sky_workdir")
    wanted = step(world.set_name, "exit 0", uploads=(tree,), secrets={"TOKEN": "x"}, **HELD)
    killed(world, wanted, after)
    runs = world.deployer.observe().runs
    assert len(world.jobs()) == (after == 4)
    if 1 <= after < 4:
        # The number is taken, the work is not there: for the same plan to go on with.
        assert world.deployer.observe().last_run("train") is None
        assert [(run.record.stage, run.record.plan) for run in runs] == [(Stage.INTENT, "plan-1")]
    record = world.execute(wanted)
    assert world.jobs() == [record.identity]
    assert world.only().state is RunState.PENDING


@pytest.mark.parametrize("delay", [0.02, 0.06])
def test_killed_while_the_job_is_submitted(world, delay):
    wanted = step(world.set_name, "exit 0", **HELD)
    killed(world, wanted, 1, in_flight=delay)
    record = world.execute(wanted)
    assert world.jobs() == [record.identity]
    assert world.only().record == record


def test_killed_between_submission_and_record(world):
    """The snippet itself dies (the login node goes down): the job is found by its name."""
    wanted = step(world.set_name, "exit 0", **HELD)
    record = world.execute(wanted)
    intent = dataclasses.replace(record, stage=Stage.INTENT, identity=None)
    world.record_file().write_text(intent.to_json())
    seen = world.only()
    assert (seen.record, seen.state) == (record, RunState.PENDING)
    world.record_file().write_text(intent.to_json())
    assert world.execute(wanted) == record
    assert world.jobs() == [record.identity]


@pytest.mark.parametrize("after", [1, 3, 5])
def test_killed_while_replacing(world, after):
    """reserve, look, cancel, look, write down, submit."""
    world.execute(step(world.set_name, "exit 0", **HELD))
    previous = world.only()
    wanted = step(
        world.set_name, "exit 1", action="replace", run=2, plan="p2", previous=previous, **HELD
    )
    killed(world, wanted, after)
    now = next(run for run in world.deployer.observe().runs if run.record.run == 1)
    record = world.execute(dataclasses.replace(wanted, previous=now))
    states = {run.record.run: run.state for run in world.deployer.observe().runs}
    assert states == {1: RunState.CANCELLED, 2: RunState.PENDING}
    assert sorted(world.jobs()) == sorted([previous.record.identity, record.identity])


@pytest.mark.parametrize("after", [2, 4, 5])
def test_killed_while_removing(world, after):
    """look, begin, look, cancel, look, remove."""
    wanted = step(world.set_name, "exit 0", **HELD)
    world.execute(wanted)
    previous = world.only()
    removal = dataclasses.replace(
        wanted,
        action="delete",
        artifacts=(),
        previous=previous,
        record=dataclasses.replace(previous.record, plan="p2"),
    )
    killed(world, removal, after)
    seen = world.only()
    assert (seen.record.stage, seen.record.plan) == (Stage.INTENT, "p2")
    world.execute(dataclasses.replace(removal, previous=seen))
    assert world.deployer.observe().last_run("train") is None
    assert not world.folder().exists()


def test_a_record_deleted_by_hand_comes_back(world):
    record = world.execute(step(world.set_name, "exit 0", **HELD))
    world.record_file().unlink()
    assert world.only().record == record
    assert Record.from_json(world.record_file().read_text()) == record


def test_all_files_deleted_by_hand(world):
    """What is left is in the job's name: the work, the run, the beginning of the digest."""
    record = world.execute(step(world.set_name, "exit 0", work="a.b-c", **HELD))
    world.sh("rm", "-rf", str(world.state))
    seen = world.only()
    assert seen.state is RunState.PENDING
    assert (seen.record.work, seen.record.run) == ("a.b-c", 1)
    assert (seen.record.identity, seen.record.name) == (record.identity, record.name)
    assert record.spec_digest.startswith(seen.record.spec_digest)
    assert len(seen.record.spec_digest) == 8


def test_a_job_deleted_by_hand(world):
    record = world.execute(step(world.set_name, "exit 0", **HELD))
    world.sh("scancel", record.identity)
    seen = world.only()
    assert (seen.state, seen.record.outcome) == (RunState.CANCELLED, "cancelled")
    assert len(world.jobs()) == 1


def test_a_folder_without_record_or_job_is_unknown(world):
    world.execute(step(world.set_name, "exit 0"))
    world.ended()
    world.record_file().unlink()
    for file in world.folder().iterdir():
        if file.name != "job.sbatch" and file.is_file():
            file.unlink()
    world.folder().rename(world.folder(7))
    runs = {run.record.run: run for run in world.deployer.observe().runs}
    assert runs[7].state is RunState.UNKNOWN
    assert runs[1].state is RunState.SUCCEEDED  # by its name
    assert not world.record_file(7).exists()


def test_a_record_that_cannot_be_read_stops_everything(world):
    world.execute(step(world.set_name, "exit 0", **HELD))
    world.record_file().write_text("{}")
    with pytest.raises(WorkFailed, match=r"train\.1\.json cannot be read"):
        world.deployer.observe()


def test_the_lock_names_its_holder(world):
    other = World(world.site, world.set_name)
    world.deployer.lock("alice@laptop pid 7 plan abc\n")
    with pytest.raises(LockHeld, match="alice@laptop pid 7 plan abc"):
        other.deployer.lock("bob")
    other.deployer.unlock()  # not ours
    with pytest.raises(LockHeld):
        other.deployer.lock("bob")
    assert other.deployer.break_lock() == "alice@laptop pid 7 plan abc"
    assert other.deployer.break_lock() is None
    other.deployer.lock("bob")
    world.deployer.unlock()
    with pytest.raises(LockHeld, match="bob"):
        world.deployer.lock("alice")
    other.deployer.unlock()
    world.deployer.lock("alice")
    world.deployer.unlock()
    other.deployer.close()


def deployer(key="alpha", **options):
    return SlurmDeployer(stack("away"), target(key, DeployerKind.SSH, **options))


def test_hosts_that_cannot_be_reached(slurm_site, monkeypatch, tmp_path):
    monkeypatch.setenv("TRIPLANE_SSH_CONFIG", str(slurm_site.state / "ssh/config-alice"))
    monkeypatch.delenv("SSH_AUTH_SOCK", raising=False)
    away = deployer("gone", host="127.0.0.1", port=1)
    with pytest.raises(TargetUnreachable, match=r"gone: .*@127\.0\.0\.1:1: connection refused"):
        away.observe()
    with pytest.raises(TargetUnreachable, match="host name is not known"):
        deployer("gone", host="no-such-host.invalid").observe()

    key = tmp_path / "id_wrong"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key)], check=True)
    config = slurm_site.ssh("alpha").config("alice")
    wrong = tmp_path / "config"
    wrong.write_text(config.replace(str(slurm_site.ssh("alpha").keys["alice"]), str(key)))
    monkeypatch.setenv("TRIPLANE_SSH_CONFIG", str(wrong))
    with pytest.raises(TargetUnreachable, match="none of the keys is accepted"):
        deployer().observe()

    hosts = tmp_path / "known_hosts"
    known = slurm_site.ssh("alpha").known_hosts
    wrong.write_text(config.replace(str(known), str(hosts)))
    hosts.write_text("")
    with pytest.raises(TargetUnreachable, match="host key is not in known_hosts"):
        deployer().observe()
    line = known.read_text().splitlines()[0].rsplit(" ", 1)[0]
    hosts.write_text(f"{line} {key.with_suffix('.pub').read_text().split()[1]}\n")
    with pytest.raises(TargetUnreachable, match="host key is not the one in known_hosts"):
        deployer().observe()


@pytest.mark.long
def test_a_controller_that_is_away(world):
    record = world.execute(step(world.set_name, "exit 0", **HELD))
    second = step(world.set_name, "exit 0", run=2, **HELD)
    world.site.service("alpha-ctl", "stop")
    try:
        with pytest.raises(TargetUnreachable, match=r"alpha: .*contact"):
            world.deployer.observe()
        with pytest.raises(TargetUnreachable, match="contact"):
            world.execute(second)
    finally:
        world.site.service("alpha-ctl", "start")
    last = world.deployer.observe().last_run("train")
    assert last is not None
    assert last.record == record
    record = world.execute(second)
    assert record.identity in world.jobs()
    assert world.until(lambda run: True, run=2).state is RunState.PENDING


def test_logs_of_two_ranks_are_followed(world):
    body = "\n".join(
        [
            'until_there() { until [ -e "$run/$1" ]; do sleep 0.1; done; }',
            "echo preparing",
            "until_there first",
            'for rank in 0 1; do printf "rank $rank\nhalf" >"$run/logs/$rank.log"; done',
            "until_there second",
            'for rank in 0 1; do echo " of $rank" >>"$run/logs/$rank.log"; done',
            'printf "the end" >>"$run/logs/1.log"',
            "echo 0: half of 0",
            "echo triplane: done",
        ]
    )
    world.execute(step(world.set_name, body, nodes=2, partition="gpu"))
    lines = []
    for line in world.deployer.logs(world.only(), follow=True, tail=None):
        lines.append(line)
        if line in ("preparing", "(rank 1) rank 1"):  # nothing more is written before that
            (world.folder() / ("first" if line == "preparing" else "second")).touch()
    assert lines == [
        "preparing",
        "(rank 0) rank 0",
        "(rank 1) rank 1",
        "triplane: done",
        "(rank 0) half of 0",
        "(rank 1) half of 1",
        "(rank 1) the end",
    ]
    tail = world.deployer.logs(world.ended(), follow=False, tail=1)
    assert list(tail) == ["triplane: done", "(rank 0) half of 0", "(rank 1) the end"]


def test_two_clusters_at_once(slurm_site, request, monkeypatch):
    monkeypatch.setenv("TRIPLANE_SSH_CONFIG", str(slurm_site.state / "ssh/config-alice"))
    name = set_name(request)
    alpha, beta = World(slurm_site, f"{name}-a"), World(slurm_site, f"{name}-b", "beta")
    alpha.execute(step(alpha.set_name, "echo on $SLURM_CLUSTER_NAME"))
    beta.execute(
        step(beta.set_name, "echo on $SLURM_CLUSTER_NAME", target="beta", partition="batch")
    )
    for there in (alpha, beta):
        run = there.ended()
        assert run.record.target == there.cluster
        assert list(there.deployer.logs(run, follow=True, tail=None)) == [f"on {there.cluster}"]
        there.clean()
    assert "alice on alpha-login, partitions cpu, gpu*" in alpha.deployer.check()
    free = beta.deployer.capacity()
    assert free is not None and free.free["H100"] <= 8
    alpha.deployer.close()
    beta.deployer.close()


def test_a_jump_host(slurm_site, monkeypatch, tmp_path):
    access = slurm_site.ssh("beta")
    config = slurm_site.ssh("alpha").config("alice") + access.config("alice", alias="inner")
    (tmp_path / "inner").write_text(config + "  ProxyJump alpha\n")
    (tmp_path / "config").write_text(f"Include {tmp_path}/inner\nHost *\n  ForwardAgent no\n")
    monkeypatch.setenv("TRIPLANE_SSH_CONFIG", str(tmp_path / "config"))
    through = deployer("inner")
    assert "alice on beta-login" in through.check()
    through.close()


@pytest.fixture
def bare(slurm_site_no_accounting, request, monkeypatch):
    """A set on a cluster without accounting."""
    yield from worlds(slurm_site_no_accounting, request, monkeypatch)
    slurm_site_no_accounting.reset()


def test_without_accounting(bare):
    bare.execute(step(bare.set_name, "exit 4"))
    bare.execute(step(bare.set_name, "kill -9 $$", run=2))
    bare.execute(step(bare.set_name, "exit 0", run=3, **HELD))
    failed = bare.ended(1)
    assert (failed.state, failed.exit_code) == (RunState.FAILED, 4)
    killed = bare.ended(2)
    assert (killed.state, killed.exit_code) == (RunState.FAILED, 137)
    assert bare.until(lambda run: True, run=3).fields["partition"] == "cpu"
    # Slurm forgets its jobs: what was seen is in the records.
    bare.record_file(1).unlink()
    assert bare.until(lambda run: True, run=1).state is RunState.FAILED
    bare.site.service("alpha-ctl", "stop")
    for file in (bare.site.state / "alpha/state").glob("job_state*"):
        file.unlink()
    bare.record_file(1).unlink()
    bare.site.service("alpha-ctl", "start")
    runs = {run.record.run: run for run in bare.deployer.observe().runs}
    assert runs[1].state is RunState.UNKNOWN
    assert (runs[2].state, runs[2].record.outcome) == (RunState.FAILED, "failed")
    assert (runs[3].state, runs[3].detail) == (
        RunState.CANCELLED,
        "left the queue before it started",
    )
