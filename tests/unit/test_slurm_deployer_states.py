"""Every way in which what is known of a job becomes the state of a run."""

from __future__ import annotations

import dataclasses

import pytest

from compiler.planning.records import Record, Stage
from compiler.planning.states import REMOVED, RunState
from compiler.targets.slurm.deployer.snapshot import Accounting, AccountRow, QueueRow, RunFiles
from compiler.targets.slurm.deployer.states import classify, was_refused

ON, OFF, AWAY = Accounting.ON, Accounting.OFF, Accounting.AWAY
STARTED = RunFiles(started=(("7", 0),))


def record(stage: Stage = Stage.CREATED, identity: str | None = "7", **more: object) -> Record:
    return Record(
        "demo", "train", 1, "alpha", "slurm", "demo.train.1.ab", "ab", "f", stage,
        identity=identity, **more,
    )  # fmt: skip


def queue(state: str, reason: str = "", **more: object) -> QueueRow:
    return QueueRow("7", state, "demo.train.1.ab", reason, **more)


def account(state: str, exit_code: int | None = None, **more: object) -> AccountRow:
    return AccountRow("7", state, "demo.train.1.ab", exit_code, **more)


def ended(code: int, job_id: str = "7", starts: int = 1) -> RunFiles:
    return RunFiles(tuple(("7", restart) for restart in range(starts)), (code, job_id))


@pytest.mark.parametrize(
    ("state", "reason", "expected", "detail"),
    [
        ("PENDING", "", RunState.PENDING, "PENDING"),
        ("PENDING", "Resources", RunState.PENDING, "PENDING (Resources)"),
        ("PENDING", "Priority", RunState.PENDING, "PENDING (Priority)"),
        ("PENDING", "QOSMaxGRESPerUser", RunState.PENDING, "PENDING (QOSMaxGRESPerUser)"),
        ("PENDING", "AssocGrpGRES", RunState.PENDING, "PENDING (AssocGrpGRES)"),
        ("PENDING", "Dependency", RunState.PENDING, "PENDING (Dependency)"),
        (
            "PENDING",
            "DependencyNeverSatisfied",
            RunState.PENDING,
            "PENDING (DependencyNeverSatisfied)",
        ),
        ("PENDING", "BeginTime", RunState.PENDING, "PENDING (BeginTime)"),
        ("PENDING", "JobHeldUser", RunState.PENDING, "PENDING (JobHeldUser)"),
        ("PENDING", "JobHeldAdmin", RunState.PENDING, "PENDING (JobHeldAdmin)"),
        ("PENDING", "launch failed requeued held", RunState.PENDING,
         "PENDING (launch failed requeued held)"),
        ("REQUEUED", "BeginTime", RunState.PENDING, "REQUEUED (BeginTime)"),
        ("REQUEUE_HOLD", "", RunState.PENDING, "REQUEUE_HOLD"),
        ("REQUEUE_FED", "", RunState.PENDING, "REQUEUE_FED"),
        ("SPECIAL_EXIT", "", RunState.PENDING, "SPECIAL_EXIT"),
        ("RESV_DEL_HOLD", "", RunState.PENDING, "RESV_DEL_HOLD"),
        ("SUSPENDED", "", RunState.PENDING, "SUSPENDED"),
        ("CONFIGURING", "", RunState.RUNNING, "CONFIGURING"),
        ("RUNNING", "", RunState.RUNNING, "RUNNING"),
        ("COMPLETING", "", RunState.RUNNING, "COMPLETING"),
        ("STAGE_OUT", "", RunState.RUNNING, "STAGE_OUT"),
        ("SIGNALING", "", RunState.RUNNING, "SIGNALING"),
        ("STOPPED", "", RunState.RUNNING, "STOPPED"),
        ("RESIZING", "", RunState.RUNNING, "RESIZING"),
        ("SOMETHING_NEW", "", RunState.RUNNING, "SOMETHING_NEW"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("known", [True, False])
def test_a_job_that_lives(state, reason, expected, detail, known):
    """Whatever else is there, and with the record or without."""
    for files in (None, STARTED, ended(143)):
        verdict = classify(
            record() if known else None, queue(state, reason), account("FAILED", 1), files, ON
        )
        assert (verdict.state, verdict.detail) == (expected, detail)
        assert verdict.exit_code is None
        assert not verdict.final
        assert not verdict.left_queue


FINAL = [
    ("COMPLETED", RunState.SUCCEEDED),
    ("FAILED", RunState.FAILED),
    ("BOOT_FAIL", RunState.FAILED),
    ("NODE_FAIL", RunState.FAILED),
    ("OUT_OF_MEMORY", RunState.FAILED),
    ("PREEMPTED", RunState.FAILED),
    ("CANCELLED", RunState.CANCELLED),
    ("REVOKED", RunState.CANCELLED),
    ("TIMEOUT", RunState.TIMED_OUT),
    ("DEADLINE", RunState.TIMED_OUT),
]


@pytest.mark.parametrize(("state", "expected"), FINAL)
@pytest.mark.parametrize("known", [True, False])
def test_a_job_that_has_ended(state, expected, known):
    """The same from the queue and, once that has forgotten it, from the accounting."""
    whose = record() if known else None
    code = 0 if expected is RunState.SUCCEEDED else 9
    for row, accounted, accounting in (
        (queue(state, exit_code=code), None, OFF),
        (queue(state), account(state, code), ON),
        (None, account(state, code), ON),
        (queue(state), account("RUNNING"), ON),  # the accounting lags behind
    ):
        files = STARTED if accounted and accounted.state != "RUNNING" else ended(code)
        verdict = classify(whose, row, accounted, files, accounting)
        assert (verdict.state, verdict.detail, verdict.exit_code) == (expected, state, code)
        assert verdict.final
        assert verdict.left_queue


@pytest.mark.parametrize(
    ("row", "accounted", "files", "code"),
    [
        (queue("FAILED"), None, ended(4), 4),
        (queue("FAILED", exit_code=1), None, ended(4), 4),
        (queue("FAILED", exit_code=1), account("FAILED", 137), STARTED, 137),
        (queue("FAILED", exit_code=137), None, STARTED, 137),
        (queue("FAILED"), account("FAILED", 0), STARTED, None),
        (queue("TIMEOUT"), account("TIMEOUT", 0), ended(143), 143),
        (queue("TIMEOUT"), account("TIMEOUT", 0), STARTED, None),
        (queue("NODE_FAIL"), account("NODE_FAIL", 1), STARTED, 1),
        (queue("OUT_OF_MEMORY"), account("OUT_OF_MEMORY"), ended(137), 137),
        (queue("COMPLETED"), None, None, 0),
        # What another job (or an earlier start of a script that was taken over) left counts not.
        (queue("FAILED"), None, ended(4, job_id="6"), None),
    ],
)
def test_where_the_exit_code_comes_from(row, accounted, files, code):
    assert classify(record(), row, accounted, files, ON).exit_code == code


def test_a_failure_is_written_down_once_its_code_is_known_or_the_queue_forgot_it():
    assert not classify(record(), queue("FAILED"), None, STARTED, ON).final
    assert classify(record(), queue("FAILED"), None, ended(3), ON).final
    assert classify(record(), None, account("FAILED"), STARTED, ON).final
    assert classify(record(), queue("NODE_FAIL"), None, STARTED, OFF).exit_code is None


@pytest.mark.parametrize(
    ("accounted", "files", "detail"),
    [
        (None, None, "CANCELLED before it started"),
        (account("CANCELLED by 1000"), None, "CANCELLED by 1000 before it started"),
        (account("CANCELLED by 1000"), STARTED, "CANCELLED by 1000"),
        (None, STARTED, "CANCELLED"),
    ],
)
def test_cancelled_by_hand(accounted, files, detail):
    verdict = classify(record(), queue("CANCELLED"), accounted, files, ON)
    assert (verdict.state, verdict.detail) == (RunState.CANCELLED, detail)
    assert verdict.final
    if accounted:
        purged = classify(record(), None, accounted, files, ON)
        assert (purged.state, purged.detail) == (RunState.CANCELLED, detail)


@pytest.mark.parametrize("accounting", [ON, OFF, AWAY])
def test_the_script_itself_said_how_it_ended(accounting):
    for code, state in ((0, RunState.SUCCEEDED), (3, RunState.FAILED)):
        verdict = classify(record(), None, None, ended(code), accounting)
        assert (verdict.state, verdict.exit_code, verdict.final) == (state, code, True)


@pytest.mark.parametrize("accounting", [ON, OFF])
def test_nobody_knows_how_it_ended(accounting):
    verdict = classify(record(), None, None, STARTED, accounting)
    assert (verdict.state, verdict.final) == (RunState.VANISHED, True)
    verdict = classify(record(), None, None, None, accounting)
    assert (verdict.state, verdict.final) == (RunState.CANCELLED, True)
    assert verdict.detail == "left the queue before it started"


def test_an_accounting_that_does_not_answer_decides_nothing():
    for files in (None, STARTED):
        verdict = classify(record(), None, None, files, AWAY)
        assert (verdict.state, verdict.final) == (RunState.UNKNOWN, False)
        assert not verdict.left_queue


@pytest.mark.parametrize(
    ("state", "expected"),
    [("RUNNING", RunState.RUNNING), ("PENDING", RunState.PENDING), ("REQUEUED", RunState.PENDING)],
)
def test_the_accounting_lags_behind_a_queue_that_forgets_at_once(state, expected):
    verdict = classify(record(), None, account(state), STARTED, ON)
    assert (verdict.state, verdict.final) == (expected, False)
    assert verdict.detail == f"no longer in the queue, {state} in the accounting"
    assert classify(record(), None, account(state), ended(0), ON).state is RunState.SUCCEEDED


def test_the_accounting_has_not_heard_of_it_yet():
    """Up to 5 s after submission it has no row, or one without name."""
    for accounted in (None, account("Unknown"), dataclasses.replace(account("PENDING"), name="")):
        verdict = classify(record(), queue("RUNNING"), accounted, None, ON)
        assert verdict.state is RunState.RUNNING


@pytest.mark.parametrize("accounting", [ON, OFF, AWAY])
@pytest.mark.parametrize("files", [None, STARTED, ended(0), ended(1), RunFiles()])
def test_a_lost_record_that_neither_queue_nor_accounting_knows_is_unknown(accounting, files):
    verdict = classify(None, None, None, files, accounting)
    assert (verdict.state, verdict.final) == (RunState.UNKNOWN, False)


@pytest.mark.parametrize("accounting", [ON, OFF, AWAY])
def test_an_intent_that_nothing_followed(accounting):
    verdict = classify(record(Stage.INTENT, None), None, None, None, accounting)
    assert not verdict.submitted
    assert not verdict.final
    assert not verdict.left_queue


def test_an_intent_that_something_shows_was_submitted():
    intent = record(Stage.INTENT, None)
    assert classify(intent, queue("PENDING"), None, None, ON).state is RunState.PENDING
    assert classify(intent, None, account("COMPLETED", 0), None, ON).state is RunState.SUCCEEDED
    assert classify(intent, None, None, ended(5), OFF).exit_code == 5
    assert classify(intent, None, None, STARTED, OFF).state is RunState.VANISHED
    assert classify(intent, None, None, STARTED, AWAY).state is RunState.UNKNOWN


def test_what_is_written_down_stays():
    for state in (
        RunState.SUCCEEDED,
        RunState.FAILED,
        RunState.CANCELLED,
        RunState.TIMED_OUT,
        RunState.VANISHED,
    ):
        closed = record(Stage.ENDED, outcome=str(state), exit_code=2)
        for row in (None, queue("COMPLETED")):
            verdict = classify(closed, row, None, None, OFF)
            assert (verdict.state, verdict.exit_code) == (state, 2)


def test_slurm_s_own_word_is_shown_as_long_as_it_has_one():
    closed = record(Stage.ENDED, outcome="failed", exit_code=1)
    for row, accounted, detail in (
        (None, None, ""),
        (queue("NODE_FAIL"), None, "NODE_FAIL"),
        (queue("NODE_FAIL"), account("RUNNING"), "NODE_FAIL"),
        (None, account("OUT_OF_MEMORY"), "OUT_OF_MEMORY"),
        (None, account("COMPLETED"), ""),
    ):
        assert classify(closed, row, accounted, None, ON).detail == detail


def test_unless_somebody_requeued_the_job():
    closed = record(Stage.ENDED, outcome="failed", exit_code=2)
    assert classify(closed, queue("PENDING"), None, ended(2), ON).state is RunState.PENDING


@pytest.mark.parametrize(
    ("code", "state"),
    [(0, RunState.SUCCEEDED), (3, RunState.FAILED), (None, RunState.CANCELLED)],
)
def test_a_removed_run(code, state):
    removed = record(Stage.ENDED, outcome=REMOVED, exit_code=code)
    verdict = classify(removed, None, None, None, OFF)
    assert (verdict.state, verdict.detail) == (state, REMOVED)


def test_an_outcome_of_a_later_version_is_unknown():
    odd = record(Stage.ENDED, outcome="evaporated")
    assert classify(odd, None, None, None, OFF).state is RunState.UNKNOWN


def test_what_slurm_keeps_of_a_refused_submission():
    assert was_refused(queue("FAILED", "BadConstraints"))
    assert was_refused(account("FAILED", 1))
    assert not was_refused(queue("FAILED", "NonZeroExitCode", nodes="alpha-c1"))
    assert not was_refused(queue("CANCELLED"))
    assert not was_refused(queue("PENDING", "BadConstraints"))
