"""What became of a run: a pure function of all that bucket and EC2 say of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, RunState

_THERE = ("pending", "running", "stopping", "stopped")
# EC2 may list a new instance a little late, and drops a terminated one after an hour.
_LISTED_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Verdict:
    """`final` means that no later look can bring another answer; `submitted` is False for a
    run whose number was taken and nothing more."""

    state: RunState
    detail: str = ""
    exit_code: int | None = None
    final: bool = False
    submitted: bool = True


@dataclass(frozen=True, slots=True)
class Node:
    """One instance: EC2's word for its state, and why it left it."""

    id: str
    state: str
    reason: str = ""

    @property
    def is_there(self) -> bool:
        return self.state in _THERE


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a run beside its record.

    `outcome` is the text of outcome.json; `beats` the ranks that were heard of; `nodes` the
    instances, None where EC2 was not asked or did not answer; `age` the seconds since the
    record was written; `has_program` whether the apply that began it came so far that
    something may exist.
    """

    outcome: str | None = None
    beats: Sequence[int] = ()
    nodes: Sequence[Node] | None = None
    has_program: bool = False
    age: float = 0.0


def is_cancelling(record: Record) -> bool:
    """Whether somebody began to cancel the run, and did not write down that it is gone."""
    return record.stage is not Stage.ENDED and record.outcome == RunState.CANCELLED


def classify(record: Record, facts: Facts) -> Verdict:
    """The verdict on one run."""
    if record.stage is Stage.ENDED:
        return _recorded(record)
    if is_cancelling(record):
        return _half_cancelled(facts)
    if facts.outcome is not None:
        return _left_by_the_run(facts.outcome)
    if record.identity is None:
        if not facts.has_program:
            return Verdict(RunState.CANCELLED, "never started", submitted=False)
        return Verdict(RunState.PENDING, "the apply that began it did not finish")
    if facts.nodes is None:
        state = RunState.RUNNING if facts.beats else RunState.PENDING
        return Verdict(state, "EC2 does not say what its nodes do")
    return _by_nodes(record, facts)


def _by_nodes(record: Record, facts: Facts) -> Verdict:
    nodes = facts.nodes or ()
    wanted = len((record.identity or "").split(","))
    there = [node for node in nodes if node.is_there]
    if not nodes and not facts.beats and facts.age < _LISTED_SECONDS:
        return Verdict(RunState.PENDING, "EC2 does not list its nodes yet")
    if not there:
        # A rank writes the outcome before its node goes, so these were taken away.
        why = next((node.reason for node in nodes if node.reason), "")
        return Verdict(RunState.VANISHED, f"its nodes are gone {why}".strip(), final=True)
    if all(node.state == "stopped" for node in there):
        return Verdict(RunState.PENDING, "stopped")
    detail = "" if len(there) == wanted else f"{wanted - len(there)} of {wanted} nodes are gone"
    if facts.beats:
        return Verdict(RunState.RUNNING, detail)
    return Verdict(RunState.PENDING, detail or "its nodes are booting")


def _half_cancelled(facts: Facts) -> Verdict:
    """Live as long as something may be there, whatever its nodes write while they go."""
    if not facts.has_program:  # taken away together with what the engine made
        return Verdict(RunState.CANCELLED, final=True)
    there = [node for node in facts.nodes or () if node.is_there]
    if facts.nodes and not there:
        return Verdict(RunState.CANCELLED, final=True)
    left = f"{len(there)} of its nodes are there" if there else "its nodes may be there"
    state = RunState.RUNNING if facts.beats else RunState.PENDING
    return Verdict(state, f"its cancellation did not finish, {left}: cancel it again")


def _left_by_the_run(text: str) -> Verdict:
    """outcome.json, which the last rank writes (templates/aws/peers.sh)."""
    try:
        body = json.loads(text)
        code, phase = int(body["exit_code"]), str(body["phase"])
        succeeded = body["outcome"] == "succeeded"
    except (ValueError, KeyError, TypeError):
        return Verdict(RunState.UNKNOWN, "its outcome.json cannot be read")
    if succeeded:
        return Verdict(RunState.SUCCEEDED, "", 0, final=True)
    where = "" if phase == "run" else f"in {phase} "
    return Verdict(RunState.FAILED, f"{where}on rank {body.get('rank', 0)}", code, final=True)


def _recorded(record: Record) -> Verdict:
    if record.outcome == REMOVED:
        state = RunState.CANCELLED
        if record.exit_code is not None:
            state = RunState.FAILED if record.exit_code else RunState.SUCCEEDED
        return Verdict(state, REMOVED, record.exit_code)
    try:
        return Verdict(RunState(record.outcome or ""), "", record.exit_code)
    except ValueError:
        return Verdict(RunState.UNKNOWN, f"recorded as {record.outcome!r}", record.exit_code)
