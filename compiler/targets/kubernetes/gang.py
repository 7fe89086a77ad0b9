"""What starts the pods of one task all together, or none of them.

The mechanism is the target's `gang`. A queue is another matter: Kueue admits a whole Job by
itself, and goes with any of these that leave the scheduling to Kubernetes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import kubernetes_features as codes
from compiler.model import TargetSpec
from compiler.targets.interface import Job
from compiler.targets.kubernetes import metadata
from compiler.targets.kubernetes.additions import NOTHING, Addition
from compiler.targets.kubernetes.manifest import Manifest
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
    """What the target's mechanism wants; nothing for work of one pod. The tasks of a group are
    one gang."""
    ranks = sum(member.task.num_nodes for member in job.members or (job,))
    if ranks == 1:
        return Gang()
    match job.target.options.get("gang"):
        case "volcano":
            return _volcano(job, settings, ranks)
        case "kai":
            return Gang(
                pods=Addition(
                    labels={_KAI_QUEUE: _queue(job.target)},
                    spec={"schedulerName": "kai-scheduler"},
                ),
                job_labels={_KAI_QUEUE: _queue(job.target)},
                job_annotations={_KAI_MEMBERS: str(ranks)},
            )
        case "core":
            return _core(job, settings, ranks)
        case _:
            return Gang()


def gang_faults(target: TargetSpec) -> Iterator[Diagnostic]:
    """A mechanism that this target cannot have."""
    kind = target.options.get("gang")
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


def _queue(target: TargetSpec) -> str:
    named = target.options.get("gang_queue")
    return str(named or _DEFAULT_QUEUE[str(target.options.get("gang"))])


def _volcano(job: Job, settings: Settings, ranks: int) -> Gang:
    body: dict[str, object] = {
        "apiVersion": _VOLCANO_API,
        "kind": "PodGroup",
        "metadata": metadata.object_metadata(job, settings, job.name),
        "spec": {"minMember": ranks, "queue": _queue(job.target)},
    }
    if job.resources.priority_class is not None:
        body["spec"]["priorityClassName"] = job.resources.priority_class  # type: ignore[index]
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
    minor = tuple(int(part) for part in nearest.split("."))
    return _CORE_JOB if minor >= tuple(int(part) for part in _CORE_JOB.split(".")) else None


def _core(job: Job, settings: Settings, ranks: int) -> Gang:
    gang = {"gang": {"minCount": ranks}}
    form = _core_form(settings.version)
    if form == _CORE_JOB:
        return Gang(job_spec={"scheduling": {"schedulingPolicy": gang}})
    if form == _CORE_POD_GROUP:
        body: dict[str, object] = {
            "apiVersion": "scheduling.k8s.io/v1alpha2",
            "kind": "PodGroup",
            "metadata": metadata.object_metadata(job, settings, job.name),
            "spec": {"schedulingPolicy": gang},
        }
        spec: dict[str, object] = {"schedulingGroup": {"podGroupName": job.name}}
        return Gang(pods=_with(spec, Manifest("pod-group.yaml", "object.yaml.j2", body)))
    if form == _CORE_WORKLOAD:
        body = {
            "apiVersion": "scheduling.k8s.io/v1alpha1",
            "kind": "Workload",
            "metadata": metadata.object_metadata(job, settings, job.name),
            "spec": {"podGroups": [{"name": _POD_GROUP, "policy": gang}]},
        }
        spec = {"workloadRef": {"name": job.name, "podGroup": _POD_GROUP}}
        return Gang(pods=_with(spec, Manifest("workload.yaml", "object.yaml.j2", body)))
    return Gang()


def _with(spec: Mapping[str, object], manifest: Manifest) -> Addition:
    return Addition(spec=spec, manifests=(manifest,))
