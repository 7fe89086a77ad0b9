"""Names of the objects and hosts of a group or a pipeline, all of them within 63 characters."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.model import names
from compiler.targets.interface import Job
from compiler.targets.kubernetes.jobset import child_name, longest_pod_name
from compiler.targets.kubernetes.metadata import Names, secrets_name

Members = Sequence[tuple[str, int]]
"""The tasks of a whole by name, each with its number of nodes."""

_MEMBER_LIMIT = 20
_LONGEST_RUN = 99_999
_LEAST_OF_WHOLE = 12


def replicated_name(task: str) -> str:
    """The task's name as that of a replicated job: the middle part of its pods' names."""
    return names.cut(names.dns_label(task), _MEMBER_LIMIT)


def whole_name(set_name: str, whole: str, run: int, members: Members) -> str:
    """The JobSet's name, which its Jobs, pods and hosts begin with: cut so that they all fit."""
    label = names.work_label(set_name, whole)
    longest = max(
        len(longest_pod_name(f"-{_LONGEST_RUN}", replicated_name(task), nodes))
        for task, nodes in members
    )
    room = max(_LEAST_OF_WHOLE, names.DNS_LABEL_LIMIT - longest)
    return f"{names.cut(label, room)}-{run}"


def members_of(whole: Job) -> Members:
    return [(member.member_name, member.task.num_nodes) for member in whole.members]


def member_names(whole: Job, member: Job, *, in_jobset: bool) -> Names:
    """The names of one task's objects. All tasks are in the domain of the whole's Service."""
    name = whole_name(whole.stack.set_name, whole.work, whole.run, members_of(whole))
    own = child_name(name, replicated_name(member.member_name)) if in_jobset else member.name
    return Names(
        job=own,
        jobset=name if in_jobset else None,
        service=name,
        ready_service=f"{member.name}-ready",
        scripts=f"{member.name}-scripts",
        files=f"{member.name}-files",
        secrets=secrets_name(member),
    )


def host(job_name: str, rank: int, service: str) -> str:
    """What DNS calls a rank: an Indexed Job names its pods' hosts by itself."""
    return f"{job_name}-{rank}.{service}"
