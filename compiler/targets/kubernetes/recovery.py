"""`job_recovery`: what starts a task again, and what ends it for good.

One rank is started again by its Job: codes and disruptions that recover cost nothing, every
other failure one of the allowed restarts. Several ranks are one, so they are started again
together, by a JobSet, or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from compiler.model import JobRecovery, Resources
from compiler.targets.interface import Job
from compiler.targets.kubernetes.pod_config import CONTAINER

# What a Job says of a failure that one of its rules decided.
BY_RULE = "PodFailurePolicy"
_LARGEST_LIST = 255


@dataclass(frozen=True, slots=True)
class Recovery:
    """`job` are fields of the Job's spec, `failure_policy` that of the JobSet around it."""

    job: dict[str, object]
    failure_policy: dict[str, object] = field(default_factory=dict)


def recovers(resources: Resources) -> JobRecovery | None:
    """What the task says about recovery; None where it asks for none."""
    recovery = resources.job_recovery
    if recovery is None or (recovery.strategy or "").lower() == "none":
        return None
    return recovery


def recovery_of(job: Job, in_jobset: bool) -> Recovery:
    """How the job's failures are taken; without recovery the first one ends it."""
    wanted = recovers(job.resources)
    if wanted is None or (job.task.num_nodes > 1 and not in_jobset):
        return Recovery({"backoffLimit": 0}, {"maxRestarts": 0} if in_jobset else {})
    rules = _rules(wanted, "FailJob" if in_jobset else "Ignore")
    if not in_jobset:
        return Recovery(
            {
                "backoffLimit": wanted.max_restarts_on_errors,
                "podFailurePolicy": {"rules": rules},
                # a pod is replaced once it has ended, as two of one rank would meet
                "podReplacementPolicy": "Failed",
            }
        )
    free = {
        "name": "recoverable",
        "action": "RestartJobSetAndIgnoreMaxRestarts",
        "onJobFailureReasons": [BY_RULE],
    }
    return Recovery(
        {
            "backoffLimit": 0,
            "podFailurePolicy": {"rules": rules},
            "podReplacementPolicy": "Failed",
        },
        {"maxRestarts": wanted.max_restarts_on_errors, "rules": [free]},
    )


def _rules(wanted: JobRecovery, action: str) -> list[dict[str, object]]:
    """Exit codes that recover, and pods that were taken away: preempted, evicted, lost."""
    rules: list[dict[str, object]] = []
    codes = sorted({code for code in wanted.recover_on_exit_codes if code})
    for first in range(0, len(codes), _LARGEST_LIST):
        on_codes = {
            "containerName": CONTAINER,
            "operator": "In",
            "values": codes[first : first + _LARGEST_LIST],
        }
        rules.append({"action": action, "onExitCodes": on_codes})
    disrupted = {"type": "DisruptionTarget", "status": "True"}
    rules.append({"action": action, "onPodConditions": [disrupted]})
    return rules
