"""How a group or a pipeline fails, recovers and ends: the policies of its JobSet.

A task that fails for good ends the whole. A task of one rank is started again by its own Job. One
of several ranks needs JobSet for that: alone where the cluster has turned the gate RestartJob
on, else with the whole group. Once all primary tasks have succeeded the JobSet is complete, and
takes the pods of the others away; these stay for their termination delay.
"""

from __future__ import annotations

from collections.abc import Iterator

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import kubernetes_groups as codes
from compiler.rendering.environment import render
from compiler.targets.interface import Job
from compiler.targets.kubernetes.additions import NOTHING, Addition
from compiler.targets.kubernetes.group_names import host, member_names, replicated_name
from compiler.targets.kubernetes.hooks import FILE as HOOKS
from compiler.targets.kubernetes.hooks import grace, hook_calls
from compiler.targets.kubernetes.recovery import BY_RULE, Recovery, recovers, recovery_of

LINGER = "linger.sh"
STAYS = "stays"
# Seconds that name servers may take to forget who ended, and for which who is stopped stays.
_SETTLE, _STAY = 12, 20
_GATE = "RestartJob"


def restarts_alone(whole: Job) -> bool:
    """Whether JobSet starts a single task again and leaves the others alone."""
    gates = whole.target.options.get("jobset_gates")
    return isinstance(gates, list | tuple) and _GATE in gates


def member_recovery(member: Job, *, in_jobset: bool) -> Recovery:
    """The Job's part: a task of several ranks leaves it to the JobSet."""
    return recovery_of(member, in_jobset and member.task.num_nodes > 1)


def failure_policy(whole: Job) -> dict[str, object]:
    """Rules for the tasks that recover; whatever no rule is for, ends the whole."""
    alone = restarts_alone(whole)
    rules: list[dict[str, object]] = []
    restarts = 0
    for member in whole.members:
        wanted = recovers(member.resources)
        if wanted is None or member.task.num_nodes == 1:
            continue
        name = replicated_name(member.member_name)
        restart = "RestartJob" if alone else "RestartJobSet"
        rules.append(
            {
                "name": _rule(name, "recoverable"),
                "action": f"{restart}AndIgnoreMaxRestarts",
                "targetReplicatedJobs": [name],
                "onJobFailureReasons": [BY_RULE],
            }
        )
        if wanted.max_restarts_on_errors:
            restarts += wanted.max_restarts_on_errors
            rules.append(
                {
                    "name": _rule(name, "errors"),
                    "action": restart,
                    "targetReplicatedJobs": [name],
                }
            )
    if not rules:
        return {"maxRestarts": 0}
    rules.append({"name": "others", "action": "FailJobSet"})
    return {"maxRestarts": restarts, "rules": rules}


def success_policy(whole: Job) -> dict[str, object] | None:
    """The primary tasks decide; None where all of them are."""
    primary = [replicated_name(member.member_name) for member in primaries(whole)]
    if len(primary) == len(whole.members):
        return None
    return {"operator": "All", "targetReplicatedJobs": primary}


def primaries(whole: Job) -> list[Job]:
    if whole.group is None:
        return list(whole.members)
    names = whole.group.primary_tasks
    return [member for member in whole.members if member.member_name in names]


def delay_of(whole: Job, member: Job) -> int:
    """Seconds for which an auxiliary task stays when the primary ones are done."""
    if whole.group is None or member in primaries(whole):
        return 0
    return whole.group.termination_delay.get(member.member_name, 0)


def linger(whole: Job, member: Job, script_folder: str) -> Addition:
    """The time that an auxiliary task is given to end in, before hooks of its own.

    Its `linger.sh` waits only where the primary tasks are gone, as after success. These have
    `stays`, the seconds for which they stay where they are stopped.
    """
    delay = delay_of(whole, member)
    if not delay:
        lingers = any(delay_of(whole, other) for other in whole.members)
        stays = lingers and member in primaries(whole)
        return Addition(scripts={STAYS: f"{_STAY}\n"}) if stays else NOTHING
    command = ["/bin/bash", f"{script_folder}/{LINGER}"]
    if hook_calls(member.task):
        both = f"/bin/bash {script_folder}/{LINGER}; exec /bin/bash {script_folder}/{HOOKS}"
        command = ["/bin/bash", "-c", both]
    return Addition(
        container={"lifecycle": {"preStop": {"exec": {"command": command}}}},
        spec={"terminationGracePeriodSeconds": delay + grace(member.task)},
        scripts={LINGER: _linger_script(whole, delay)},
    )


def _linger_script(whole: Job, delay: int) -> str:
    hosts = []
    for primary in primaries(whole):
        names = member_names(whole, primary, in_jobset=True)
        hosts += [host(names.job, rank, names.service) for rank in range(primary.task.num_nodes)]
    return render("k8s/linger.sh.j2", {"hosts": hosts, "delay": delay, "settle": _SETTLE})


def ending_faults(whole: Job) -> Iterator[Diagnostic]:
    """What is started again, or ends, in another way than the task says."""
    target = whole.target.key
    if restarts_alone(whole):
        return
    for member in whole.members:
        if recovers(member.resources) is not None and member.task.num_nodes > 1:
            yield codes.GROUP_RECOVERS_WHOLE.at(
                member.resources.origin_of("job_recovery").key_span(),
                f"when `{member.member_name}` recovers, all tasks start again",
                hint="where JobSet has its gate RestartJob on: `jobset_gates: [RestartJob]`",
                target=target,
            )


def _rule(name: str, what: str) -> str:
    """A rule's name begins with a letter and has no dash."""
    return f"member_{name.replace('-', '_')}_{what}"
