"""What became of a run, from its Job or JobSet, the pods, Kueue's Workload and events: pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from compiler.planning.records import Record, Stage
from compiler.planning.states import RunState
from compiler.targets.kubernetes.deployer.workloads import Workload, member_of, rank_of
from compiler.targets.kubernetes.jobset import SINGLE

_DONE = ("Succeeded", "Failed")
# Reasons of events that tell that a Job or a JobSet failed.
_FAILURES = frozenset(
    (
        "BackoffLimitExceeded",
        "PodFailurePolicy",
        "FailedJobs",
        "ReachedMaxRestarts",
        "FailJobSetFailurePolicyAction",
    )
)
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

    `job` (a JobSet for a run that recovers, or of several tasks) None: there is none; `pods`
    are those of its present attempt. `events` are its own, needed where it is gone or has no
    pods.
    """
    if record.stage is Stage.ENDED:
        state = _recorded(record.outcome)
        return Verdict(state, exit_code=record.exit_code, final=True)
    if job is None:
        return _without_job(record, events)
    what = Workload.of(job)
    if record.identity and what.uid != record.identity:
        said = f"its {what.kind} was deleted, and another has its name now"
        return Verdict(RunState.VANISHED, said, final=True)
    if what.is_complete:
        return Verdict(RunState.SUCCEEDED, _restarted(what), exit_code=0, final=True)
    if what.failed is not None:
        return _failed(what, pods)
    if what.is_going:
        return Verdict(RunState.RUNNING, f"its {what.kind} is being deleted")
    if what.is_suspended:
        return Verdict(RunState.PENDING, _suspended(what, workload))
    return _live(what, pods, events)


def _recorded(outcome: str | None) -> RunState:
    try:
        return RunState(outcome or "")
    except ValueError:
        return RunState.CANCELLED


def _without_job(record: Record, events: Sequence[Mapping[str, Any]]) -> Verdict:
    if record.outcome == RunState.CANCELLED:
        return Verdict(RunState.CANCELLED, final=True)
    if record.identity is None and record.stage is Stage.INTENT:
        return Verdict(RunState.CANCELLED, "its Job was never made", final=True, submitted=False)
    if record.identity is None:
        return Verdict(RunState.UNKNOWN, "both its record and its Job were lost")
    reasons = {str(item.get("reason")): str(item.get("message", "")) for item in events}
    if "Completed" in reasons or "AllJobsCompleted" in reasons:
        return Verdict(RunState.SUCCEEDED, "its Job expired", exit_code=0, final=True)
    if "DeadlineExceeded" in reasons:
        return Verdict(RunState.TIMED_OUT, "its Job expired", final=True)
    if reasons.keys() & _FAILURES:
        return Verdict(RunState.FAILED, "its Job expired", final=True)
    return Verdict(RunState.VANISHED, "its Job was deleted", final=True)


def _failed(what: Workload, pods: Sequence[Mapping[str, Any]]) -> Verdict:
    condition = what.failed or {}
    reason, message = str(condition.get("reason", "")), str(condition.get("message", ""))
    # a JobSet fails for a Job of its own, whose deadline it then only quotes
    if reason == "DeadlineExceeded" or "DeadlineExceeded" in message:
        return Verdict(RunState.TIMED_OUT, _short(message), final=True)
    code, words = _first_failure(pods) or (None, message or reason)
    said = "; ".join(filter(None, (words, _restarted(what))))
    return Verdict(RunState.FAILED, _short(said), code, final=True)


def _restarted(what: Workload) -> str:
    if not what.restarts:
        return ""
    return "after 1 restart" if what.restarts == 1 else f"after {what.restarts} restarts"


def _first_failure(pods: Iterable[Mapping[str, Any]]) -> tuple[int | None, str] | None:
    """(exit code, words) of the rank that failed first: the others were ended for it."""
    failures = []
    for pod in pods:
        status, rank = pod.get("status", {}), _who(pod)
        disrupted = _condition(status, "DisruptionTarget")
        for container in status.get("containerStatuses") or ():
            ended = (container.get("state") or {}).get("terminated")
            if not ended or not ended.get("exitCode"):
                continue
            words = str(ended.get("message") or "").strip()
            if not words:
                words = f"{rank} ended with exit code {ended['exitCode']}"
                if ended.get("reason") not in (None, "Error"):
                    words += f" ({ended['reason']})"
            if disrupted:
                words = f"{rank} was evicted: {disrupted.get('message', '')}"
            # whoever was ended for another's failure is being deleted
            was_ended = "deletionTimestamp" in pod["metadata"]
            failures.append(
                (was_ended, str(ended.get("finishedAt")), rank_of(pod), ended["exitCode"], words)
            )
        if status.get("phase") == "Failed" and not status.get("containerStatuses"):
            words = f"{rank}: {status.get('reason', 'failed')}: {status.get('message', '')}"
            failures.append((False, str(status.get("startTime")), rank_of(pod), None, words))
    if not failures:
        return None
    *_, code, words = min(failures, key=lambda item: item[:3])
    return code, _short(words)


def _suspended(what: Workload, workload: Mapping[str, Any] | None) -> str:
    queue = what.queue
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
    what: Workload, pods: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]]
) -> Verdict:
    ranks, again = what.ranks, _restarted(what)
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
        said = "; ".join(filter(None, (words, *waiting[:1], again)))
        return Verdict(RunState.RUNNING, _short(said))
    return Verdict(RunState.RUNNING, again)


def _has_started(pod: Mapping[str, Any]) -> bool:
    status = pod.get("status", {})
    if status.get("phase") in _DONE:
        return True
    states = [item.get("state") or {} for item in status.get("containerStatuses") or ()]
    return any("running" in state or "terminated" in state for state in states)


def _waiting(pod: Mapping[str, Any], ranks: int) -> str:
    """Why a pod does not run, in the platform's words; empty where nothing is wrong."""
    status = pod.get("status", {})
    prefix = f"{_who(pod)}: " if ranks > 1 else ""
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


def _who(pod: Mapping[str, Any]) -> str:
    member = member_of(pod)
    return f"{member} rank {rank_of(pod)}" if member not in ("", SINGLE) else f"rank {rank_of(pod)}"


def _condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    for item in status.get("conditions") or ():
        if item["type"] == kind and item["status"] == "True":
            return item
    return None


def _short(text: object) -> str:
    words = re.sub(r"\s+", " ", str(text)).strip()
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 3]}..."
