"""Waiting for and cancelling works of every kind, with a target that only answers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compiler.diagnostics import WrongUsage
from compiler.planning.plan import TargetState
from compiler.planning.records import Lifecycle
from compiler.planning.states import Observation, RunState
from compiler.workflow import Waited, cancel, live, wait
from compiler.workflow.observe import World
from tests.unit.test_outcomes import observed


class Deployer:
    """Remembers what was cancelled."""

    def __init__(self) -> None:
        self.cancelled: list[str] = []

    def cancel(self, run) -> None:
        self.cancelled.append(run.record.run_key)

    def close(self) -> None:
        """Nothing is held."""


def run_of(work, state, number=1, lifecycle=Lifecycle.RUN, joins="", members=()):
    seen = observed(state, run=number)
    record = replace(
        seen.record, work=work, lifecycle=lifecycle, joins=joins, members=members, target="alpha"
    )
    return replace(seen, record=record)


@pytest.fixture
def answers(monkeypatch):
    deployer = Deployer()

    def set_runs(*runs):
        world = World(
            {"alpha": deployer},
            {"alpha": Observation("alpha", runs)},
            targets=(TargetState("alpha"),),
        )
        monkeypatch.setattr(live, "look", lambda *_, **__: world)
        return deployer

    return set_runs


@pytest.mark.parametrize("until", ["running", "finished"])
@pytest.mark.parametrize(
    ("lifecycle", "state", "verdict"),
    [
        (Lifecycle.SERVICE, RunState.RUNNING, Waited.SUCCEEDED),
        (Lifecycle.SERVICE, RunState.PENDING, Waited.NOT_FINISHED),
        (Lifecycle.SERVICE, RunState.FAILED, Waited.FAILED),
        (Lifecycle.VOLUME, RunState.PENDING, Waited.SUCCEEDED),
        (Lifecycle.VOLUME, RunState.RUNNING, Waited.SUCCEEDED),
        (Lifecycle.VOLUME, RunState.VANISHED, Waited.FAILED),
    ],
)
def test_what_does_not_end_is_waited_for_until_it_is_there(
    answers, until, lifecycle, state, verdict
):
    answers(run_of("w", state, lifecycle=lifecycle))
    assert wait(None, ["w"], until=until, timeout=0) is verdict


def test_a_run_that_goes_on_has_not_finished(answers):
    answers(run_of("w", RunState.RUNNING))
    assert wait(None, ["w"], until="running", timeout=0) is Waited.SUCCEEDED
    assert wait(None, ["w"], timeout=0) is Waited.NOT_FINISHED


def test_cancelling_a_group_ends_what_joined_this_run_of_it(answers):
    members = (("a", 1), ("b", 2))
    deployer = answers(
        run_of("g", RunState.RUNNING, 2, members=members),
        run_of("g-late", RunState.RUNNING, joins="g.2"),
        run_of("g-old", RunState.RUNNING, joins="g.1"),
        run_of("g-over", RunState.SUCCEEDED, joins="g.2"),
        run_of("other", RunState.RUNNING),
    )
    results = cancel(None, ["g", "g-late"])
    assert deployer.cancelled == ["g.2", "g-late.1"]
    assert [what for what, error in results if error is None] == [
        "g run 2 on alpha cancelled",
        "g-late run 1 on alpha cancelled",
    ]


def test_cancelling_what_joined_leaves_the_group(answers):
    deployer = answers(
        run_of("g", RunState.RUNNING, members=(("a", 1),)),
        run_of("g-late", RunState.RUNNING, joins="g.1"),
    )
    cancel(None, ["g-late"])
    assert deployer.cancelled == ["g-late.1"]


def test_a_volume_is_not_cancelled(answers):
    deployer = answers(run_of("models", RunState.RUNNING, lifecycle=Lifecycle.VOLUME))
    with pytest.raises(WrongUsage, match="is a volume: triplane destroy --delete-volumes models"):
        cancel(None, ["models"])
    assert deployer.cancelled == []
