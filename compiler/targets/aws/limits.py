"""What EC2 and IAM do not take, however much is asked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import aws as codes
from compiler.model import Resources, TargetSpec, Task

Statement = tuple[str, tuple[str, ...]]
"""A call of the program's grants module."""

MOST_NODES = 1000  # EC2 lists so many by their ids at once
MOST_DISK_GIB = 65536  # of gp3 and io2
MOST_TAGS = 50
MOST_LABELS = 40  # what always fits beside our own tags
_OWN_TAGS = 7  # those of the owner, the work, the run, the rank, and Name
POLICY_LIMIT = 10240  # characters of a role's own policies, blanks aside
# Characters of the statements that every role has, and of each kind beside what it names.
_OWN_STATEMENTS = 800
_STATEMENTS: Mapping[str, int] = {
    "archive": 75,
    "list_bucket": 130,
    "log_group": 400,
    "parameter": 110,
    "read_objects": 75,
    "registry": 200,
    "registry_login": 75,
    "secret": 130,
    "write_objects": 160,
}


def oversized(task: Task, resources: Resources, target: TargetSpec) -> Iterator[Diagnostic]:
    """Numbers beyond what any request to EC2 may have."""
    asked = (
        ("disk_size", "GiB of disk", resources.disk_size or 0, MOST_DISK_GIB),
        ("labels", "labels", len(resources.labels), MOST_LABELS),
    )
    if task.num_nodes > MOST_NODES:
        yield codes.TOO_LARGE.at(
            task.origin.span("num_nodes"),
            f"a run has no {task.num_nodes} instances",
            expected=f"at most {MOST_NODES}",
            target=target.key,
        )
    for key, what, amount, most in asked:
        if amount > most:
            yield codes.TOO_LARGE.at(
                resources.origin_of(key).span(),
                f"an instance has no {amount} {what}",
                expected=f"at most {most}",
                target=target.key,
            )


def tag_faults(
    labels: Mapping[str, str], volumes: int, resources: Resources, target: TargetSpec
) -> Iterator[Diagnostic]:
    """More tags than an instance has: `labels` are the task's and the stack's together."""
    wanted = _OWN_TAGS + len(labels) + volumes
    if wanted > MOST_TAGS:
        yield codes.TOO_LARGE.at(
            resources.origin_of("labels").span(),
            f"an instance has no {wanted} tags ({_OWN_TAGS} are set by triplane, {volumes} name "
            "volumes)",
            expected=f"at most {MOST_TAGS}",
            target=target.key,
        )


def policy_size(statements: Sequence[Statement], folder: str) -> int:
    """An upper bound of the characters of a run's policy; `folder` is its own in the bucket."""
    size = _OWN_STATEMENTS + 8 * len(folder)
    for function, arguments in statements:
        # A prefix is named twice, where a bucket is listed; an archive lies near the run.
        named = 3 * sum(map(len, arguments)) if function == "list_bucket" else 0
        named = named or sum(map(len, arguments)) * (2 if function == "log_group" else 1)
        size += _STATEMENTS[function] + named + (len(folder) if function == "archive" else 0)
    return size


def policy_faults(
    statements: Sequence[Statement], folder: str, task: Task, target: TargetSpec
) -> Iterator[Diagnostic]:
    """A role that would have to name more than its policy may be long."""
    if policy_size(statements, folder) > POLICY_LIMIT:
        yield codes.POLICY_SIZE.at(
            task.origin.span(),
            f"the nodes' role would have to name {len(statements)} archives, secrets and buckets",
            hint="bring files along as one folder, or take secrets from one place",
            target=target.key,
        )
