"""Hooks of a task on its nodes: when EC2 takes one back, and before the first is gone."""

from __future__ import annotations

import json

import pytest

from compiler.diagnostics import Diagnostics
from compiler.model import Hook, Image, Secret
from compiler.targets.aws import TARGET
from compiler.targets.aws.hooks import stop_seconds
from tests.aws.builders import job, resources
from tests.aws.nodes import Cluster
from tests.unit.test_aws_nodes import parameter_file

SEEN = 'echo "$SKYPILOT_HOOK_EVENT $SKYPILOT_NODE_RANK $MODE $HF_TOKEN $PWD" >>~/hooked\n'


def test_a_hook_for_down_runs_on_rank_0_before_its_node_is_gone(tmp_path):
    item = job(
        num_nodes=2,
        hooks=(Hook(SEEN, ("down",), 60), Hook("exit 3\n", ("down", "preemption"), 60)),
        envs={"MODE": "fast"},
        secrets={"HF_TOKEN": Secret("HF_TOKEN")},
        script="exit 5\n",
    )
    cluster = Cluster(tmp_path, item)
    (cluster.bucket / "secrets" / parameter_file("HF_TOKEN")).write_text("CANARY")
    cluster.run()
    first, second = cluster.nodes
    assert (first.home / "hooked").read_text() == f"down 0 fast CANARY {first.home}/sky_workdir\n"
    assert not (second.home / "hooked").exists()
    assert (first.home / ".sky/hooks/down.log").exists()
    # A hook that fails stops nothing, and is not what became of the run.
    assert "hook 1 for down failed" in first.log()
    outcome = json.loads(cluster.state("outcome.json"))
    assert (outcome["exit_code"], outcome["phase"]) == (5, "run")
    assert first.was_shut_down


@pytest.mark.parametrize("rank", [0, 1])
def test_a_hook_for_preemption_runs_once_on_rank_0_when_a_node_is_taken_back(tmp_path, rank):
    wait = "for _ in {1..600}; do [ ! -e ~/hooked ] || exit 0; /bin/sleep 0.1; done\nexit 9\n"
    script = f'[ "$SKYPILOT_NODE_RANK" = 0 ] || exit 0\n{wait}'
    item = job(
        resources(use_spot=True),
        num_nodes=2,
        hooks=(Hook(SEEN, ("preemption", "down"), 60),),
        script=script if rank == 0 else f"[ $SKYPILOT_NODE_RANK = 0 ] || /bin/sleep 2\n{script}",
    )
    cluster = Cluster(tmp_path, item)
    (cluster.nodes[rank].folder / "notice").touch()
    assert cluster.run() == [0, 0], cluster.nodes[0].log()
    seen = (cluster.nodes[0].home / "hooked").read_text()
    assert seen.startswith("preemption 0 ")
    assert len(seen.splitlines()) == 1  # and no second time because it goes
    assert "EC2 takes this instance back" in cluster.nodes[rank].log()
    assert not (cluster.nodes[1].home / "hooked").exists()


def test_a_hook_that_takes_too_long_is_ended(tmp_path):
    item = job(hooks=(Hook("/bin/sleep 600\n", ("down",), 1),), script="true\n")
    cluster = Cluster(tmp_path, item)
    assert cluster.run() == [0]
    assert "took more than 1 seconds" in cluster.nodes[0].log()


def test_the_supervisor_is_given_the_time_of_its_hooks():
    assert stop_seconds(job().task) == 90
    assert stop_seconds(job(hooks=(Hook("x", ("down",), 120),)).task) == 210
    assert stop_seconds(job(hooks=(Hook("x", ("down",), 3600),)).task) == 690
    assert stop_seconds(job(hooks=(Hook("x", ("preemption",), 120),)).task) == 90


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (job(hooks=(Hook("true", ("stop",), 9),)), ["field-ignored"]),
        (job(hooks=(Hook("true", ("stop", "down"), 9),)), []),
        (
            job(resources(image=Image(docker="a/b")), hooks=(Hook("true", ("down",), 9),)),
            ["field-changed"],
        ),
    ],
)
def test_what_of_hooks_is_lost_is_said(item, expected):
    diagnostics = Diagnostics()
    artifacts = TARGET.render(item, diagnostics)
    assert [found.code for found in diagnostics] == expected
    names = {artifact.path.rpartition("/")[2] for artifact in artifacts}
    assert ("hooks.sh" in names) == ("hook-0.sh" in names) == (expected != ["field-ignored"])
