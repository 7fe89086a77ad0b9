"""What became of a run, from its Job or JobSet, the pods, Kueue's Workload and events: pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from compiler.planning.records import Lifecycle, Record, Stage
from compiler.planning.states import RunState
from compiler.targets.kubernetes.deployer import lasting
from compiler.targets.kubernetes.deployer.verdict import Verdict, short, waiting
from compiler.targets.kubernetes.deployer.workloads import CLAIM, NOTE, Workload, rank_of, who

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
    if record.identity and job["metadata"]["uid"] != record.identity:
        kind = job.get("kind") or "Job"
        said = f"its {kind} was deleted, and another has its name now"
        return Verdict(RunState.VANISHED, said, final=True)
    if job.get("kind") == "Deployment":
        return lasting.serving(job, pods)
    if job.get("kind") == CLAIM:
        return lasting.claimed(job, events)
    if job.get("kind") == NOTE:
        return Verdict(RunState.RUNNING, "not made here")
    what = Workload.of(job)
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
    if record.lifecycle is not Lifecycle.RUN:
        return Verdict(RunState.VANISHED, "it was deleted", final=True)
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
        return Verdict(RunState.TIMED_OUT, short(message), final=True)
    code, words = _first_failure(pods) or (None, message or reason)
    said = "; ".join(filter(None, (words, _restarted(what))))
    return Verdict(RunState.FAILED, short(said), code, final=True)


def _restarted(what: Workload) -> str:
    if not what.restarts:
        return ""
    return "after 1 restart" if what.restarts == 1 else f"after {what.restarts} restarts"


def _first_failure(pods: Iterable[Mapping[str, Any]]) -> tuple[int | None, str] | None:
    """(exit code, words) of the rank that failed first: the others were ended for it."""
    failures = []
    for pod in pods:
        status, rank = pod.get("status", {}), who(pod)
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
        if status.get("phase") == "Failed" and not any(
            "terminated" in (item.get("state") or {})
            for item in status.get("containerStatuses") or ()
        ):
            failures += [(False, at, rank_of(pod), None, words) for at, words in _unprepared(pod)]
        if status.get("phase") == "Failed" and not status.get("containerStatuses"):
            words = f"{rank}: {status.get('reason', 'failed')}: {status.get('message', '')}"
            failures.append((False, str(status.get("startTime")), rank_of(pod), None, words))
    if not failures:
        return None
    *_, code, words = min(failures, key=lambda item: item[:3])
    return code, short(words)


def _unprepared(pod: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """(when, words) of each container that failed before the task's own began."""
    for container in pod["status"].get("initContainerStatuses") or ():
        ended = (container.get("state") or {}).get("terminated")
        if not ended or not ended.get("exitCode"):
            continue
        said = str(ended.get("message") or "").strip().splitlines()
        words = f"{who(pod)}: container {container['name']} ended with exit code "
        words += f"{ended['exitCode']}{f': {said[-1]}' if said else ''}"
        yield str(ended.get("finishedAt")), words


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
    return short(f"in queue {queue}" + (f": {words}" if words else ""))


def _live(
    what: Workload, pods: Sequence[Mapping[str, Any]], events: Sequence[Mapping[str, Any]]
) -> Verdict:
    ranks, again = what.ranks, _restarted(what)
    current = [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]
    started = [pod for pod in current if _has_started(pod)]
    reasons = [words for pod in sorted(current, key=rank_of) if (words := waiting(pod, ranks))]
    if not current:
        trouble = [item for item in events if item.get("type") == "Warning"]
        said = str(trouble[-1].get("message", "")) if trouble else "no pod yet"
        return Verdict(RunState.PENDING, short(said))
    if not started:
        return Verdict(RunState.PENDING, short(reasons[0] if reasons else "starting"))
    if len(started) < ranks:
        words = f"{len(started)} of {ranks} ranks have started"
        said = "; ".join(filter(None, (words, *reasons[:1], again)))
        return Verdict(RunState.RUNNING, short(said))
    return Verdict(RunState.RUNNING, again)


def _has_started(pod: Mapping[str, Any]) -> bool:
    status = pod.get("status", {})
    if status.get("phase") in _DONE:
        return True
    states = [item.get("state") or {} for item in status.get("containerStatuses") or ()]
    return any("running" in state or "terminated" in state for state in states)


def _condition(status: Mapping[str, Any], kind: str) -> Mapping[str, Any] | None:
    for item in status.get("conditions") or ():
        if item["type"] == kind and item["status"] == "True":
            return item
    return None
