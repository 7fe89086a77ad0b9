"""States of runs from Jobs, pods and events, without a cluster."""

from __future__ import annotations

import pytest

from compiler.planning.records import Record, Stage
from compiler.planning.states import RunState
from compiler.targets.kubernetes.deployer.states import classify

RECORD = Record(
    set="lab",
    work="train",
    run=1,
    target="prod",
    kind="kubernetes",
    name="lab-train-1",
    spec_digest="s",
    files_digest="f",
    stage=Stage.CREATED,
    identity="u1",
)
_RANK = "batch.kubernetes.io/job-completion-index"


def job(*conditions: str, ranks: int = 2, reason: str = "", **spec: object) -> dict:
    listed = [{"type": item, "status": "True", "reason": reason} for item in conditions]
    return {
        "metadata": {"uid": "u1", "labels": {}},
        "spec": {"completions": ranks, **spec},
        "status": {"conditions": listed},
    }


def ended(rank: int, code: int, at: str, *, message: str = "", deleted: bool = False) -> dict:
    meta: dict = {"labels": {_RANK: str(rank)}}
    if deleted:
        meta["deletionTimestamp"] = at
    state = {"terminated": {"exitCode": code, "finishedAt": at, "message": message}}
    phase = "Failed" if code else "Succeeded"
    return {"metadata": meta, "status": {"phase": phase, "containerStatuses": [{"state": state}]}}


def waiting(rank: int, reason: str, message: str = "") -> dict:
    state = {"waiting": {"reason": reason, "message": message}}
    status = {"phase": "Pending", "containerStatuses": [{"state": state}]}
    return {"metadata": {"labels": {_RANK: str(rank)}}, "status": status}


def running(rank: int) -> dict:
    status = {"phase": "Running", "containerStatuses": [{"state": {"running": {}}}]}
    return {"metadata": {"labels": {_RANK: str(rank)}}, "status": status}


def test_the_exit_code_is_that_of_the_rank_that_failed_first():
    pods = [
        ended(0, 143, "2026-01-01T00:00:05Z", deleted=True),
        ended(1, 33, "2026-01-01T00:00:05Z", message="rank 1: run ended with exit code 33"),
        ended(2, 1, "2026-01-01T00:00:07Z"),
    ]
    verdict = classify(RECORD, job("Failed"), pods)
    assert (verdict.state, verdict.exit_code) == (RunState.FAILED, 33)
    assert verdict.detail == "rank 1: run ended with exit code 33"


def test_a_deadline_is_a_time_limit():
    verdict = classify(RECORD, job("Failed", reason="DeadlineExceeded"))
    assert verdict.state is RunState.TIMED_OUT


@pytest.mark.parametrize(
    ("reason", "state"),
    [
        ("Completed", RunState.SUCCEEDED),
        ("BackoffLimitExceeded", RunState.FAILED),
        ("DeadlineExceeded", RunState.TIMED_OUT),
        ("SuccessfulCreate", RunState.VANISHED),
    ],
)
def test_a_job_that_is_gone_is_known_by_its_events(reason: str, state: RunState):
    assert classify(RECORD, None, events=[{"reason": reason}]).state is state


def test_an_intent_without_a_job_was_never_submitted():
    from dataclasses import replace

    intent = replace(RECORD, stage=Stage.INTENT, identity=None)
    assert classify(intent, None).submitted is False


def test_a_job_of_another_uid_is_not_the_runs():
    other = job("Complete")
    other["metadata"]["uid"] = "u2"
    assert classify(RECORD, other).state is RunState.VANISHED


def test_a_run_whose_ranks_have_not_all_started_is_running_and_says_so():
    verdict = classify(RECORD, job(), [running(0), waiting(1, "ImagePullBackOff", "no such image")])
    assert verdict.state is RunState.RUNNING
    assert verdict.detail == ("1 of 2 ranks have started; rank 1: ImagePullBackOff: no such image")


def test_what_every_pod_passes_through_is_no_reason():
    verdict = classify(RECORD, job(ranks=1), [waiting(0, "ContainerCreating")])
    assert (verdict.state, verdict.detail) == (RunState.PENDING, "starting")


def test_a_job_without_pods_gives_the_last_warning():
    events = [{"type": "Warning", "message": "exceeded quota: few"}]
    verdict = classify(RECORD, job(), events=events)
    assert (verdict.state, verdict.detail) == (RunState.PENDING, "exceeded quota: few")


def test_kueues_words_are_shown_for_a_suspended_job():
    suspended = job(suspend=True)
    suspended["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] = "team"
    reserved = {"type": "QuotaReserved", "status": "False", "message": "insufficient quota"}
    verdict = classify(RECORD, suspended, workload={"status": {"conditions": [reserved]}})
    assert (verdict.state, verdict.detail) == (
        RunState.PENDING,
        "in queue team: insufficient quota",
    )
