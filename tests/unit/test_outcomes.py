"""The outcome table, cell by cell. The same cells run on the real slurmctld in tests/slurm."""

import pytest

from compiler.planning.outcomes import Action, Policy, decide, decide_removal
from compiler.planning.records import Record, Stage
from compiler.planning.states import ObservedRun, RunState

S = RunState


def observed(state, *, spec="a", files="f", run=3, waiting=None, code=None, detail=""):
    record = Record(
        set="s",
        work="w",
        run=run,
        target="alpha",
        kind="slurm",
        name="s-w-3",
        spec_digest=spec,
        files_digest=files,
        stage=Stage.CREATED,
        identity="42",
    )
    return ObservedRun(record, state, detail=detail, waiting_seconds=waiting, exit_code=code)


def test_nothing_recorded_creates_run_1():
    decision = decide(None, "a", "f", 0, Policy())
    assert (decision.action, decision.run) == (Action.CREATE, 1)
    assert decision.rows == {None}


CELLS = [
    # state, digest, policy, action, run, words in the reason
    (S.PENDING, "a", Policy(), Action.NOOP, 3, "pending"),
    (S.PENDING, "b", Policy(), Action.REPLACE, 8, "loses 2h03m of age in the queue"),
    (S.PENDING, "b", Policy(can_update=True), Action.UPDATE, 3, "still pending"),
    (S.RUNNING, "a", Policy(), Action.NOOP, 3, "running"),
    (S.RUNNING, "b", Policy(), Action.REFUSED, 3, "needs --replace-running"),
    (S.RUNNING, "b", Policy(replace_running=True), Action.REPLACE, 8, "is ended"),
    (S.SUCCEEDED, "a", Policy(), Action.DONE, 3, "run 3 succeeded"),
    (S.SUCCEEDED, "a", Policy(rerun=True), Action.DONE, 3, "run 3 succeeded"),
    (S.SUCCEEDED, "b", Policy(), Action.CREATE, 8, "the task changed"),
    (S.FAILED, "a", Policy(), Action.SHOWN, 3, "failed with exit code 7; again only with --rerun"),
    (S.FAILED, "a", Policy(rerun=True), Action.CREATE, 8, "asked for by --rerun"),
    (S.FAILED, "b", Policy(), Action.CREATE, 8, "the task changed"),
    (S.CANCELLED, "a", Policy(), Action.SHOWN, 3, "cancelled"),
    (S.CANCELLED, "b", Policy(), Action.CREATE, 8, "the task changed"),
    (S.TIMED_OUT, "a", Policy(), Action.SHOWN, 3, "timed out"),
    (S.TIMED_OUT, "b", Policy(), Action.CREATE, 8, "the task changed"),
    (S.VANISHED, "a", Policy(), Action.SHOWN, 3, "vanished"),
    (S.VANISHED, "b", Policy(), Action.CREATE, 8, "the task changed"),
    (S.UNKNOWN, "a", Policy(), Action.UNKNOWN, 3, "needs --rerun"),
    (S.UNKNOWN, "b", Policy(), Action.UNKNOWN, 3, "needs --rerun"),
    (S.UNKNOWN, "b", Policy(rerun=True), Action.CREATE, 8, "asked for by --rerun"),
    (S.WRITTEN, "a", Policy(), Action.NOOP, 3, "same digest"),
    (S.WRITTEN, "b", Policy(), Action.UPDATE, 3, "the task changed"),
    (S.WRITTEN, "b", Policy(keep_runs=True), Action.CREATE, 8, "one run more"),
]


@pytest.mark.parametrize(("state", "digest", "policy", "action", "run", "words"), CELLS)
def test_cell(state, digest, policy, action, run, words):
    last = observed(state, waiting=7380 if state is S.PENDING else None, code=7)
    decision = decide(last, digest, "f", 7, policy)
    assert (decision.action, decision.run) == (action, run)
    assert words in decision.reason
    assert state in decision.rows


@pytest.mark.parametrize("state", [state for state in S if state is not S.UNKNOWN])
def test_changed_files_alone_start_nothing(state):
    same = decide(observed(state), "a", "f", 7, Policy())
    other_files = decide(observed(state), "a", "g", 7, Policy())
    assert (other_files.action, other_files.run) == (same.action, same.run)
    assert not other_files.action.changes
    assert "files changed" in other_files.note


@pytest.mark.parametrize("state", [S.SUCCEEDED, S.FAILED, S.CANCELLED])
def test_changed_files_start_a_run_where_asked_for(state):
    decision = decide(observed(state), "a", "g", 7, Policy(on_files_change="run"))
    assert (decision.action, decision.run) == (Action.CREATE, 8)
    assert "on_files_change: run" in decision.reason


def test_a_pending_no_op_holds_when_the_run_starts_or_ends_before_the_apply():
    decision = decide(observed(S.PENDING), "a", "f", 7, Policy())
    assert {S.PENDING, S.RUNNING, S.SUCCEEDED, S.FAILED} <= decision.rows


def test_a_replacement_of_pending_work_holds_only_while_it_is_pending():
    assert decide(observed(S.PENDING), "b", "f", 7, Policy()).rows == {S.PENDING}


REMOVALS = [
    (S.PENDING, Policy(), Action.DELETE, "cancelled"),
    (S.RUNNING, Policy(), Action.REFUSED, "needs --replace-running"),
    (S.RUNNING, Policy(replace_running=True), Action.DELETE, "is ended"),
    (S.SUCCEEDED, Policy(), Action.DELETE, "its record stays"),
    (S.FAILED, Policy(), Action.DELETE, "its record stays"),
    (S.WRITTEN, Policy(), Action.DELETE, "files are removed"),
    (S.UNKNOWN, Policy(), Action.UNKNOWN, "not known"),
]


@pytest.mark.parametrize(("state", "policy", "action", "words"), REMOVALS)
def test_removal(state, policy, action, words):
    decision = decide_removal(observed(state), policy)
    assert decision.action is action
    assert words in decision.reason
