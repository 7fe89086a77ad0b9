"""What starts the pods of one task all together, or none of them.

The mechanism is the target's `gang`. A queue is another matter: Kueue admits a whole Job by
itself, and goes with any of these that leave the scheduling to Kubernetes. The tasks of a group
are one gang; those of a pipeline start one after another, so each is a gang of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import kubernetes_features as codes
from compiler.model import TargetSpec
from compiler.source.numbers import whole
from compiler.targets.interface import Job
from compiler.targets.kubernetes import metadata
from compiler.targets.kubernetes.additions import NOTHING, Addition
from compiler.targets.kubernetes.manifest import Manifest
from compiler.targets.kubernetes.priorities import priority_class
from compiler.targets.kubernetes.recovery import recovers
from compiler.targets.kubernetes.schema import nearest_version
from compiler.targets.kubernetes.settings import Settings

_VOLCANO_GROUP = "scheduling.k8s.io/group-name"
_VOLCANO_API = "scheduling.volcano.sh/v1beta1"
_KAI_QUEUE = "kai.scheduler/queue"
_KAI_MEMBERS = "kai.scheduler/batch-min-member"
_DEFAULT_QUEUE = {"volcano": "default", "kai": "default-queue"}
# The scheduling API of Kubernetes itself has another form in each of its first versions.
_CORE_WORKLOAD, _CORE_POD_GROUP, _CORE_JOB = "1.35", "1.36", "1.37"
_POD_GROUP_VERSIONS = {_CORE_POD_GROUP: "v1alpha2", _CORE_JOB: "v1beta1"}
_POD_GROUP = "ranks"


@dataclass(frozen=True, slots=True)
class Gang:
    """`pods` is what the pods get; `job_labels`, `job_annotations` and `job_spec` the Job."""

    pods: Addition = NOTHING
    job_labels: Mapping[str, str] = field(default_factory=dict)
    job_annotations: Mapping[str, str] = field(default_factory=dict)
    job_spec: Mapping[str, object] = field(default_factory=dict)


def uses_jobset(job: Job) -> bool:
    """Whether a task of its own is wrapped in a JobSet: as the stack's gang, or to recover."""
    options = job.target.options
    if options.get("jobset") is None or not job.ends:
        return False
    if options.get("gang") == "jobset":
        return True
    return job.task.num_nodes > 1 and recovers(job.resources) is not None


def gang_of(job: Job, settings: Settings) -> Gang:
    """What the target's mechanism wants for the ranks of one task; nothing for a single one."""
    ranks = job.task.num_nodes
    if ranks == 1:
        return Gang()
    if _kind(job.target) == "core" and _core_form(settings.version) == _CORE_JOB:
        return Gang(job_spec={"scheduling": {"schedulingPolicy": {"gang": {"minCount": ranks}}}})
    return _gang(job, settings, ranks)


def gang_of_whole(whole: Job, settings: Settings) -> Gang:
    """What is around the Jobs of a group or a pipeline: labels and annotations of its JobSet,
    and for a group the objects that its tasks share."""
    if whole.group is not None:
        return _gang(whole, settings, sum(member.task.num_nodes for member in whole.members))
    if _kind(whole.target) == "kai" and any(item.task.num_nodes > 1 for item in whole.members):
        # one task is enough for the JobSet to go on: the others are not there yet
        return replace(_kai(whole.target, 1), pods=NOTHING)
    return Gang()


def gang_of_member(of_whole: Gang, whole: Job, member: Job, settings: Settings) -> Gang:
    """What the Job and the pods of one task of a group or a pipeline get."""
    if whole.group is None:
        return gang_of(member, settings)
    if _kind(whole.target) == "kai":
        return _kai(whole.target, member.task.num_nodes)
    # what the gang needs beside the pods is there once, for the whole
    return Gang(pods=replace(of_whole.pods, manifests=()))


def gang_faults(target: TargetSpec) -> Iterator[Diagnostic]:
    """A mechanism that this target cannot have."""
    kind = _kind(target)
    if kind == "core" and _core_form(target.version) is None:
        yield codes.GANG_UNAVAILABLE.at(
            target.origin.span("gang"),
            f"Kubernetes {nearest_version(target.version)} cannot start pods together by itself",
            expected=f"version {_CORE_WORKLOAD} or later",
            hint="use jobset, volcano or kai, or a queue",
            target=target.key,
        )
    if kind == "jobset" and target.options.get("jobset") is None:
        yield codes.GANG_UNAVAILABLE.at(
            target.origin.span("gang"),
            "nothing says that the cluster has JobSet",
            hint='set `jobset: "0.12"` (its version)',
            target=target.key,
        )


def _kind(target: TargetSpec) -> object:
    return target.options.get("gang")


def _gang(job: Job, settings: Settings, ranks: int) -> Gang:
    """By an object that all pods refer to, or by annotations."""
    match _kind(job.target):
        case "volcano":
            return _volcano(job, settings, ranks)
        case "kai":
            return _kai(job.target, ranks)
        case "core":
            return _core(job, settings, ranks)
        case _:
            return Gang()


def _queue(target: TargetSpec) -> str:
    named = target.options.get("gang_queue")
    return str(named or _DEFAULT_QUEUE[str(_kind(target))])


def _kai(target: TargetSpec, ranks: int) -> Gang:
    queue = {_KAI_QUEUE: _queue(target)}
    return Gang(
        pods=Addition(labels=queue, spec={"schedulerName": "kai-scheduler"}),
        job_labels=queue,
        job_annotations={_KAI_MEMBERS: str(ranks)},
    )


def _volcano(job: Job, settings: Settings, ranks: int) -> Gang:
    body: dict[str, object] = {
        "apiVersion": _VOLCANO_API,
        "kind": "PodGroup",
        "metadata": metadata.object_metadata(job, settings, job.name),
        "spec": {"minMember": ranks, "queue": _queue(job.target)},
    }
    if named := priority_class(job.resources, job.target):
        body["spec"]["priorityClassName"] = named  # type: ignore[index]
    return Gang(
        pods=Addition(
            annotations={_VOLCANO_GROUP: job.name},
            spec={"schedulerName": "volcano"},
            manifests=(Manifest("pod-group.yaml", "object.yaml.j2", body),),
        )
    )


def _core_form(version: str | None) -> str | None:
    """Which of the forms of Kubernetes' own API a version has."""
    nearest = nearest_version(version)
    if nearest in (_CORE_WORKLOAD, _CORE_POD_GROUP):
        return nearest
    minor = tuple(whole(part) for part in nearest.split("."))
    return _CORE_JOB if minor >= tuple(whole(part) for part in _CORE_JOB.split(".")) else None


def _core(job: Job, settings: Settings, ranks: int) -> Gang:
    gang = {"gang": {"minCount": ranks}}
    form = _core_form(settings.version)
    if form is None:
        return Gang()
    if form == _CORE_WORKLOAD:
        body: dict[str, object] = {
            "apiVersion": "scheduling.k8s.io/v1alpha1",
            "kind": "Workload",
            "metadata": metadata.object_metadata(job, settings, job.name),
            "spec": {"podGroups": [{"name": _POD_GROUP, "policy": gang}]},
        }
        spec: dict[str, object] = {"workloadRef": {"name": job.name, "podGroup": _POD_GROUP}}
        return Gang(pods=_with(spec, Manifest("workload.yaml", "object.yaml.j2", body)))
    body = {
        "apiVersion": f"scheduling.k8s.io/{_POD_GROUP_VERSIONS[form]}",
        "kind": "PodGroup",
        "metadata": metadata.object_metadata(job, settings, job.name),
        "spec": {"schedulingPolicy": gang},
    }
    spec = {"schedulingGroup": {"podGroupName": job.name}}
    return Gang(pods=_with(spec, Manifest("pod-group.yaml", "object.yaml.j2", body)))


def _with(spec: Mapping[str, object], manifest: Manifest) -> Addition:
    return Addition(spec=spec, manifests=(manifest,))
