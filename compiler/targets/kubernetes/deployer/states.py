"""What became of a run, from its Job, the Job's pods, Kueue's Workload and events: pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compiler.planning.records import Record, Stage
from compiler.planning.states import RunState

_RANK_LABEL = "batch.kubernetes.io/job-completion-index"
_DONE = ("Succeeded", "Failed")
# Reasons of a waiting container that are no news: every pod passes through them.
_PASSING = frozenset(("ContainerCreating", "PodInitializing"))
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Verdict:
    """`final`: it will never be otherwise. `submitted`: the run's Job was made once."""

    state: RunState
    detail: str = ""
    exit_code: int | None = None
    final: bool = False
    submitted: bool = True


def classify(
    record: Record,
    job: Mapping[str, Any] | None,
    pods: Sequence[Mapping[str, Any]] = (),
    workload: Mapping[str, Any] | None = None,
    events: Sequence[Mapping[str, Any]] = (),
) -> Verdict:
    """The state of a run whose record says so and whose objects are these.

    `job` None: there is none. `events` are those of the Job, needed where there is no Job or
    it has no pods.
    """
    if record.stage is Stage.ENDED:
        state = _recorded(record.outcome)
        return Verdict(state, exit_code=record.exit_code, final=True)
    if job is None:
        return _without_job(record, events)
    if record.identity and job["metadata"]["uid"] != record.identity:
        return Verdict(
            RunState.VANISHED, "its Job was deleted, and another has its name now", final=True
        )
    conditions = {
        item["type"]: item
        for item in job.get("status", {}).get("conditions") or ()
        if item.get("status") == "True"
    }
    if "Complete" in conditions:
        return Verdict(RunState.SUCCEEDED, exit_code=0, final=True)
    if "Failed" in conditions:
        return _failed(conditions["Failed"], pods)
    if job["metadata"].get("deletionTimestamp"):
        return Verdict(RunState.RUNNING, "its Job is being deleted")
    if job["spec"].get("suspend"):
        return Verdict(RunState.PENDING, _suspended(job, workload))
    return _live(job, pods, events)


def rank_of(pod: Mapping[str, Any]) -> int:
    meta = pod["metadata"]
    text = (meta.get("labels") or {}).get(_RANK_LABEL) or (meta.get("annotations") or {}).get(
        _RANK_LABEL
    )
    return int(text) if text and text.isdigit() else 0


def _recorded(outcome: str | None) -> RunState:
    try:
        return RunState(outcome or "")
    except ValueError:
        return RunState.CANCELLED


def _without_job(record: Record, events: Sequence[Mapping[str, Any]]) -> Verdict:
    if record.outcome == RunState.CANCELLED:
        return Verdict(RunState.CANCELLED, final=True)
    if record.identity is None:
        return Verdict(RunState.CANCELLED, "its Job was never made", final=True, submitted=False)
    reasons = {str(item.get("reason")): str(item.get("message", "")) for item in events}
    if "Completed" in reasons:
        return Verdict(RunState.SUCCEEDED, "its Job expired", exit_code=0, final=True)
    if "DeadlineExceeded" in reasons:
        return Verdict(RunState.TIMED_OUT, "its Job expired", final=True)
    if "BackoffLimitExceeded" in reasons or "PodFailurePolicy" in reasons:
        return Verdict(RunState.FAILED, "its Job expired", final=True)
    return Verdict(RunState.VANISHED, "its Job was deleted", final=True)


def _failed(condition: Mapping[str, Any], pods: Sequence[Mapping[str, Any]]) -> Verdict:
    reason = str(condition.get("reason", ""))
    if reason == "DeadlineExceeded":
        return Verdict(RunState.TIMED_OUT, _short(condition.get("message", "")), final=True)
    first = _first_failure(pods)
    if first is None:
        return Verdict(RunState.FAILED, _short(condition.get("message", reason)), final=True)
    code, words = first
    return Verdict(RunState.FAILED, words, code, final=True)


def _first_failure(pods: Iterable[Mapping[str, Any]]) -> tuple[int | None, str] | None:
    """(exit code, words) of the rank that failed first: the others were ended for it."""
    failures = []
    for pod in pods:
        status, rank = pod.get("status", {}), rank_of(pod)
        disrupted = _condition(status, "DisruptionTarget")
        for container in status.get("containerStatuses") or ():
            ended = (container.get("state") or {}).get("terminated")
            if not ended or not ended.get("exitCode"):
                continue
            words = str(ended.get("message") or "").strip()
            if not words:
                words = f"rank {rank} ended with exit code {ended['exitCode']}"
                if ended.get("reason") not in (None, "Error"):
                    words += f" ({ended['reason']})"
            if disrupted:
                words = f"rank {rank} was evicted: {disrupted.get('message', '')}"
            # whoever was ended for another's failure is being deleted
            was_ended = "deletionTimestamp" in pod["metadata"]
            failures.append(
                (was_ended, str(ended.get("finishedAt")), rank, ended["exitCode"], words)
            )
        if status.get("phase") == "Failed" and not status.get("containerStatuses"):
            words = f"rank {rank}: {status.get('reason', 'failed')}: {status.get('message', '')}"
            failures.append((False, str(status.get("startTime")), rank, None, words))
    if not failures:
        return None
    *_, code, words = min(failures, key=lambda item: item[:3])
    return code, _short(words)


def _suspended(job: Mapping[str, Any], workload: Mapping[str, Any] | None) -> str:
    queue = (job["metadata"].get("labels") or {}).get("kueue.x-k8s.io/queue-name")
    if queue is None:
        return "suspended"
    words = ""
    for condition in (workload or {}).get("status", {}).get("conditions") or ():
        said = condition.get("message") or condition.get("reason") or ""
        if condition["type"] == "QuotaReserved" and condition["status"] != "True":
            words = str(said)
        if condition["type"] == "Evicted" and condition["status"] == "True" and not words:
            words = f"evicted: {said}"
    return _short(f"in queue {queue}" + (f": {words}" if words else ""))


def _live(
    job: Mapping[str, Any], pods: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]]
) -> Verdict:
    ranks = int(job["spec"].get("completions") or 1)
    current = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    started = [pod for pod in current if _has_started(pod)]
    waiting = [words for pod in sorted(current, key=rank_of) if (words := _waiting(pod, ranks))]
    if not current:
        trouble = [item for item in events if item.get("type") == "Warning"]
        said = str(trouble[-1].get("message", "")) if trouble else "no pod yet"
        return Verdict(RunState.PENDING, _short(said))
    if not started:
        return Verdict(RunState.PENDING, _short(waiting[0] if waiting else "starting"))
    if len(started) < ranks:
        words = f"{len(started)} of {ranks} ranks have started"
        return Verdict(RunState.RUNNING, _short("; ".join([words, *waiting[:1]])))
    return Verdict(RunState.RUNNING)


def _has_started(pod: Mapping[str, Any]) -> bool:
    status = pod.get("status", {})
    if status.get("phase") in _DONE:
        return True
    states = [item.get("state") or {} for item in status.get("containerStatuses") or ()]
    return any("running" in state or "terminated" in state for state in states)


def _waiting(pod: Mapping[str, Any], ranks: int) -> str:
    """Why a pod does not run, in the platform's words; empty where nothing is wrong."""
    status = pod.get("status", {})
    prefix = f"rank {rank_of(pod)}: " if ranks > 1 else ""
    scheduled = next(
        (item for item in status.get("conditions") or () if item["type"] == "PodScheduled"), None
    )
    if scheduled and scheduled["status"] == "False":
        return f"{prefix}{scheduled.get('reason', '')}: {scheduled.get('message', '')}"
    every = [
        *(status.get("initContainerStatuses") or ()),
        *(status.get("containerStatuses") or ()),
    ]
    for container in every:
        waiting = (container.get("state") or {}).get("waiting")
        if waiting and waiting.get("reason") not in _PASSING:
            said = waiting.get("message") or ""
            return f"{prefix}{waiting.get('reason', '')}" + (f": {said}" if said else "")
    return ""


def _condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    for item in status.get("conditions") or ():
        if item["type"] == kind and item["status"] == "True":
            return item
    return None


def _short(text: object) -> str:
    words = re.sub(r"\s+", " ", str(text)).strip()
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}..."
