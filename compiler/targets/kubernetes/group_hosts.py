"""The names by which the tasks of a group reach each other: `<task>-<i>.<group>`.

An Indexed Job names its hosts by itself, so that no DNS name is of that form. Each pod has an
/etc/hosts of its own, a file of an emptyDir that an init container makes: the kubelet leaves
such a file alone, and whoever the container runs as may write into it. The launcher keeps it up
to date, as addresses change when a task is started again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from compiler.resources import data_folder
from compiler.targets.interface import Job
from compiler.targets.kubernetes.additions import Addition
from compiler.targets.kubernetes.group_names import (
    host,
    member_names,
    replicated_name,
    whole_name,
)
from compiler.targets.kubernetes.jobset import child_name
from compiler.targets.kubernetes.pod_config import CONTAINER
from compiler.targets.kubernetes.requests import cpu_quantity, memory_quantity, node_request
from compiler.targets.kubernetes.settings import Settings

# The hosts of the group, a line for each with its name there and what DNS calls it, and what
# keeps /etc/hosts by them.
MEMBERS, HOSTS = "members", "hosts.sh"
GROUP_LABEL = "triplane.dev/group"
_FOLDER = "/triplane/hosts"
_VOLUME = "triplane-hosts"
_COPY = f"cp /etc/hosts {_FOLDER}/hosts && chmod 666 {_FOLDER}/hosts"


def hosts(job: Job, settings: Settings, service: str, lines: Iterable[str]) -> Addition:
    """What the pods of a task in a group need for an /etc/hosts of their own: of `lines`. `service`
    is the group's, whose label they carry: by it the others find who joined later."""
    image = job.resources.image
    request = node_request(job.resources)
    amounts = {"cpu": cpu_quantity(request.cpus), "memory": memory_quantity(request.memory)}
    copying: dict[str, object] = {
        "name": _VOLUME,
        "image": image.docker if image and image.docker else settings.default_image,
        "command": ["/bin/bash", "-c", _COPY],
        # a CUDA image would get all devices of the node
        "env": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "none"}],
        # no more than the task's own, which comes after it
        "resources": {"requests": amounts},
        "volumeMounts": [{"name": _VOLUME, "mountPath": _FOLDER}],
    }
    return Addition(
        labels={GROUP_LABEL: service},
        init_containers=(copying,),
        volumes=({"name": _VOLUME, "emptyDir": {}},),
        mounts=({"name": _VOLUME, "mountPath": "/etc/hosts", "subPath": "hosts"},),
        scripts={MEMBERS: "".join(f"{line}\n" for line in lines), HOSTS: _keeper()},
    )


@cache
def _keeper() -> str:
    return (data_folder("templates") / "k8s" / HOSTS).read_text(encoding="utf-8")


def with_hosts_of_image(template: dict[str, object]) -> dict[str, object]:
    """The pod with the init container in the task's image, whichever `pod_config` gave it."""
    spec = template.get("spec")
    if not isinstance(spec, Mapping) or not isinstance(spec.get("initContainers"), list):
        return template
    same = {
        key: item[key]
        for item in spec["containers"]
        if item.get("name") == CONTAINER
        for key in ("image", "imagePullPolicy")
        if key in item
    }
    beside = [
        {**item, **same} if item.get("name") == _VOLUME else item for item in spec["initContainers"]
    ]
    return {**template, "spec": {**spec, "initContainers": beside}}


def lines_of_group(whole: Job, *, in_jobset: bool) -> list[str]:
    """`<name> <DNS name>` of each rank of each task."""
    assert whole.group is not None
    found: list[str] = []
    for member in whole.members:
        own = member_names(whole, member, in_jobset=in_jobset)
        found += _lines(whole.group.name, member.member_name, own.job, own.service, member)
    return found


def lines_of_joined(job: Job, own: str, service: str) -> list[str]:
    """The same for a task that joins: the ranks of the running group, and its own."""
    assert job.joins is not None
    group = job.joins
    name = whole_name(job.stack.set_name, group.name, group.run, group.members)
    found: list[str] = []
    for task, nodes in group.members:
        child = child_name(name, replicated_name(task))
        found += [f"{task}-{rank}.{group.name} {host(child, rank, name)}" for rank in range(nodes)]
    return [*found, *_lines(group.name, task_of(job), own, service, job)]


def task_of(job: Job) -> str:
    """The name of a task that joins a group, without the group's before it."""
    assert job.joins is not None
    return job.work.removeprefix(f"{job.joins.name}-")


def _lines(group: str, task: str, job_name: str, service: str, job: Job) -> Iterator[str]:
    for rank in range(job.task.num_nodes):
        yield f"{task}-{rank}.{group} {host(job_name, rank, service)}"
