"""Which rank of a group a command is for."""

from __future__ import annotations

import pytest

from compiler.diagnostics import WorkFailed
from compiler.planning.records import Record, Stage
from compiler.targets.interface import Streams
from compiler.workflow import inside

_STREAMS = Streams(None, 1, 2)


class Deployer:
    """Answers with the rank that it was asked for."""

    def exec(self, run, command, streams, *, rank):
        return rank


class World:
    def __init__(self) -> None:
        self.deployers = {"prod": Deployer()}

    def close(self) -> None:
        """Nothing is held."""


def _record(members=(), **spec: str) -> Record:
    return Record(
        set="lab",
        work="rl",
        run=1,
        target="prod",
        kind="kubernetes",
        name="lab-rl-1",
        spec_digest="s",
        files_digest="f",
        stage=Stage.CREATED,
        members=members,
        spec=spec,
    )


def _entered(monkeypatch, record: Record, **asked) -> int:
    found = type("Run", (), {"record": record})()
    monkeypatch.setattr(inside, "look", lambda *_, **__: World())
    monkeypatch.setattr(inside, "one_run", lambda *_: ("prod", found))
    return inside.exec_in(None, "rl", ["true"], _STREAMS, **asked)


@pytest.mark.parametrize(
    ("task", "rank", "entered"), [(None, 2, 2), ("a", 1, 1), ("b", 0, 2), ("c", 1, 4)]
)
def test_ranks_are_counted_through_the_tasks_or_within_one(monkeypatch, task, rank, entered):
    record = _record((("a", 2), ("b", 1), ("c", 3)))
    assert _entered(monkeypatch, record, task=task, rank=rank) == entered


@pytest.mark.parametrize(
    ("record", "task", "rank", "said"),
    [
        (_record((("a", 2), ("b", 1))), "x", 0, "its tasks are a, b"),
        (_record((("a", 2), ("b", 1))), "a", 2, "`a` of rl has 2 ranks, there is no 2"),
        (_record(), "a", 0, "it is a single task"),
        (_record((("a", 2), ("b", 1)), order="d"), "b", 0, "run one after another"),
    ],
)
def test_a_task_that_is_not_there_is_said(monkeypatch, record, task, rank, said):
    with pytest.raises(WorkFailed, match=said):
        _entered(monkeypatch, record, task=task, rank=rank)
