"""States of runs from Jobs, pods and events, without a cluster."""

from __future__ import annotations

from dataclasses import replace

import pytest

from compiler.planning.records import Lifecycle, Record, Stage
from compiler.planning.states import RunState
from compiler.targets.kubernetes.deployer.states import classify
from compiler.targets.kubernetes.deployer.workloads import current

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
SERVICE = replace(RECORD, lifecycle=Lifecycle.SERVICE)
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


def test_a_container_that_prepares_the_rank_says_why_it_failed():
    said = {"exitCode": 3, "finishedAt": "2026-01-01T00:00:05Z", "message": "1\nno such bucket\n"}
    pod = waiting(1, "PodInitializing")
    pod["status"]["phase"] = "Failed"
    pod["status"]["initContainerStatuses"] = [{"name": "fetch", "state": {"terminated": said}}]
    verdict = classify(RECORD, job("Failed"), [pod])
    assert (verdict.state, verdict.exit_code) == (RunState.FAILED, None)
    assert verdict.detail == "rank 1: container fetch ended with exit code 3: no such bucket"


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


# --- JobSets: what recovers, and groups


def jobset(*conditions: str, restarts: int = 0, **spec: object) -> dict:
    member = {"spec": {"completions": 2, "parallelism": 2}}
    return {
        "kind": "JobSet",
        "metadata": {"uid": "u1", "labels": {}},
        "spec": {"replicatedJobs": [{"name": "task", "replicas": 1, "template": member}], **spec},
        "status": {
            "restarts": restarts,
            "conditions": [{"type": item, "status": "True"} for item in conditions],
        },
    }


def test_a_jobset_says_how_often_all_its_ranks_began_again():
    verdict = classify(RECORD, jobset("Completed", restarts=1))
    assert (verdict.state, verdict.detail, verdict.final) == (
        RunState.SUCCEEDED,
        "after 1 restart",
        True,
    )
    verdict = classify(RECORD, jobset(restarts=2), [running(0), running(1)])
    assert (verdict.state, verdict.detail) == (RunState.RUNNING, "after 2 restarts")


def test_a_jobset_that_failed_has_its_first_ranks_code():
    pods = [ended(1, 33, "2026-01-01T00:00:05Z", message="rank 1: run ended with exit code 33")]
    verdict = classify(RECORD, jobset("Failed", restarts=3), pods)
    assert (verdict.state, verdict.exit_code) == (RunState.FAILED, 33)
    assert verdict.detail == "rank 1: run ended with exit code 33; after 3 restarts"


def test_members_of_a_group_are_named():
    pod = waiting(1, "ErrImagePull", "no such image")
    pod["metadata"]["labels"]["jobset.sigs.k8s.io/replicatedjob-name"] = "eval"
    assert classify(RECORD, jobset(), [pod]).detail == "eval rank 1: ErrImagePull: no such image"


@pytest.mark.parametrize(
    ("reason", "state"),
    [("AllJobsCompleted", RunState.SUCCEEDED), ("ReachedMaxRestarts", RunState.FAILED)],
)
def test_a_jobset_that_expired_is_known_by_its_events(reason, state):
    assert classify(RECORD, None, events=[{"reason": reason}]).state is state


def test_only_the_pods_of_the_present_attempt_count():
    key = "jobset.sigs.k8s.io/restart-attempt"
    pods = [{"metadata": {"labels": {key: str(attempt)}}} for attempt in (0, 1)]
    assert current(pods, jobset(restarts=1)) == [pods[1]]


def test_of_a_member_that_replaced_a_pod_the_last_one_counts():
    def pod(member: str, rank: int, at: int) -> dict:
        labels = {"jobset.sigs.k8s.io/replicatedjob-name": member, _RANK: str(rank)}
        return {"metadata": {"labels": labels, "creationTimestamp": f"2026-01-01T00:00:0{at}Z"}}

    pods = [pod("a", 0, 3), pod("a", 0, 1), pod("a", 1, 1), pod("b", 0, 2)]
    found = current(pods, jobset())
    assert len(found) == 3
    assert pods[1] not in found


def test_of_a_job_that_replaced_a_pod_the_last_one_counts():
    def pod(at: str) -> dict:
        return {"metadata": {"creationTimestamp": at, "ownerReferences": [{"uid": "u1"}]}}

    pods = [pod("2026-01-01T00:00:09Z"), pod("2026-01-01T00:00:01Z")]
    assert current(pods, job(ranks=1)) == [pods[0]]
    recovered = {**job("Complete", ranks=1, backoffLimit=3)}
    recovered["status"] = {**recovered["status"], "failed": 1}
    assert classify(RECORD, recovered).detail == "after 1 restart"


# --- what does not end


def deployment(wanted: int, ready: int, new: int, *conditions: dict) -> dict:
    return {
        "kind": "Deployment",
        "metadata": {"uid": "u1", "generation": 2},
        "spec": {"replicas": wanted},
        "status": {
            "observedGeneration": 2,
            "readyReplicas": ready,
            "updatedReplicas": new,
            "conditions": list(conditions),
        },
    }


@pytest.mark.parametrize(
    ("body", "state", "detail"),
    [
        (deployment(2, 2, 2), RunState.RUNNING, "2 of 2 replicas ready"),
        (deployment(2, 2, 1), RunState.RUNNING, "2 of 2 replicas ready, 1 of them new"),
        (deployment(2, 0, 2), RunState.PENDING, "0 of 2 replicas ready"),
        (deployment(0, 0, 0), RunState.RUNNING, "0 of 0 replicas ready"),
        (
            deployment(
                1, 0, 1, {"type": "Progressing", "status": "False", "message": "it timed out"}
            ),
            RunState.PENDING,
            "0 of 1 replicas ready; it timed out",
        ),
    ],
)
def test_a_service_runs_once_a_replica_answers(body, state, detail):
    verdict = classify(SERVICE, body)
    assert (verdict.state, verdict.detail, verdict.final) == (state, detail, False)


def test_a_service_that_is_gone_has_vanished():
    assert classify(SERVICE, None).state is RunState.VANISHED


@pytest.mark.parametrize(
    ("phase", "state"),
    [
        ("Bound", RunState.RUNNING),
        ("Pending", RunState.PENDING),
        ("Lost", RunState.VANISHED),
    ],
)
def test_a_claim_runs_once_it_is_bound(phase, state):
    body = {"kind": "PersistentVolumeClaim", "metadata": {"uid": "u1"}, "status": {"phase": phase}}
    assert classify(RECORD, body, events=[{"message": "waits for a pod"}]).state is state


def test_a_run_that_lost_record_and_job_is_unknown():
    lost = replace(RECORD, identity=None)
    assert classify(lost, None).state is RunState.UNKNOWN
