"""Many new runs at once on the real cluster: as safe as one after the other."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from compiler.diagnostics import TriplaneError
from compiler.planning.states import RunState
from compiler.targets.interface import StepRefused
from tests.slurm.deployer_support import World, step, worlds

pytestmark = pytest.mark.slurm


@pytest.fixture
def world(slurm_site, request, monkeypatch):
    yield from worlds(slurm_site, request, monkeypatch)


def steps(world: World, *works: str, **options: str):
    return [step(world.set_name, "true", work=work, **options) for work in works]


def submit(world: World, wanted):
    """By work: the record, or what stood in its way."""
    return {
        item.record.work: came for item, came in world.deployer.create_all(wanted, lambda _: None)
    }


def test_some_are_refused_and_some_are_there_already(world: World) -> None:
    wanted = steps(world, "a", "b", "c")
    first = world.execute(wanted[0])
    refused = steps(world, "nowhere", partition="nowhere")
    came = submit(world, [*wanted, *refused])
    assert isinstance(came["nowhere"], StepRefused)
    assert came["nowhere"].fields[0] == "resources.infra"
    assert came["a"] == first  # what was made before is found
    runs = {run.record.work: run for run in world.deployer.observe().runs}
    assert sorted(runs) == ["a", "b", "c"]
    for work in "bc":
        record = came[work]
        assert not isinstance(record, TriplaneError)
        assert runs[work].record.identity == record.identity
    assert len(world.jobs()) == 3
    assert not (world.state / "runs/nowhere.1").exists()
    assert not (world.state / "stage").exists()
    world.site.wait_for(
        lambda: all(run.state is RunState.SUCCEEDED for run in world.deployer.observe().runs),
        30,
        "the jobs' ends",
    )


def test_secrets_and_a_second_time(world: World) -> None:
    wanted = [
        step(world.set_name, 'echo "${#TOKEN}"', work=work, secrets={"TOKEN": "a 'value'\n$x"})
        for work in "ab"
    ]
    once = submit(world, wanted)
    again = submit(world, wanted)
    assert once == again
    assert len(world.jobs()) == 2
    for work in "ab":
        found = world.until(lambda run: not run.state.is_live, seconds=20)
        assert found.state is RunState.SUCCEEDED
        out = next(world.folder(work=work).glob("slurm-*.out"))
        world.site.wait_for(lambda out=out: out.read_text() == "12\n", 10, "the output")
    world.deployer.observe()
    assert not list((world.state / "secrets").iterdir())


def test_one_that_cannot_be_sent_stops_none_of_the_others(world: World) -> None:
    wanted = steps(world, "a", "b", "c")
    wanted.insert(1, step(world.set_name, "true", work="odd", secrets={"NO-NAME": "x"}))
    came = submit(world, wanted)
    assert "NO-NAME" in str(came["odd"])
    assert not [work for work in "abc" if isinstance(came[work], TriplaneError)]
    assert len(world.jobs()) == 3


_KILLED = """\
import sys
from tests.slurm.deployer_support import stack, step, target
from compiler.model import Deployer
from compiler.targets.slurm.deployer import SlurmDeployer

name = sys.argv[1]
deployer = SlurmDeployer(stack(name), target("alpha", Deployer.SSH))
wanted = [step(name, "true", work=f"w{number}") for number in range(30)]
print("begin", flush=True)
list(deployer.create_all(wanted, lambda said: print(said, flush=True)))
"""


@pytest.mark.parametrize("seconds", [0.05, 0.4])
def test_killed_in_the_middle(world: World, seconds: float) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, world.set_name], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("submit"):
            break
    time.sleep(seconds)
    process.kill()
    process.communicate()
    wanted = steps(world, *(f"w{number}" for number in range(30)))
    came = submit(world, wanted)
    assert not [item for item in came.values() if isinstance(item, TriplaneError)]
    assert len(world.jobs()) == 30
    assert len(world.deployer.observe().runs) == 30
