"""`service`: replicas of a task as a Deployment, a Service in front, and what scales them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import kubernetes_features as codes
from compiler.diagnostics.codes import model_mounts
from compiler.diagnostics.codes.targets import FIELD_REFUSED
from compiler.model.service import ReplicaPolicy, Service
from compiler.targets.interface import Job
from compiler.targets.kubernetes import kueue, metadata
from compiler.targets.kubernetes.additions import NOTHING, Addition
from compiler.targets.kubernetes.exposure import exposed, port_numbers
from compiler.targets.kubernetes.manifest import Manifest
from compiler.targets.kubernetes.metadata import Names
from compiler.targets.kubernetes.probes import probes
from compiler.targets.kubernetes.settings import Settings
from compiler.targets.kubernetes.volumes import one_node_volume

# A new replica is allowed this long on top of its own first probe before a rollout has failed:
# a node may have to be made and an image to be pulled.
_ROLLOUT = 1800
_LONGEST_WINDOW = 3600


def service_port(job: Job, service: Service) -> int:
    """The one port of the service: the model has seen to it that there is one."""
    return service.port or port_numbers(job.resources.ports)[0]


def replica_probes(job: Job, script_folder: str) -> Addition:
    """How a replica's readiness is asked; nothing for what does not serve."""
    service = job.task.service
    if service is None:
        return NOTHING
    return probes(job.task, service.readiness_probe, service_port(job, service), script_folder)


def selector(job: Job) -> dict[str, str]:
    """The labels by which a service's pods are found, the same in every version of it."""
    own = metadata.own_labels(job)
    return {key: own[key] for key in (metadata.SET_LABEL, metadata.WORK_LABEL)}


def deployment(
    job: Job, settings: Settings, names: Names, template: Mapping[str, object]
) -> Manifest:
    """The Deployment around the pod template of one replica."""
    service = job.task.service
    assert service is not None
    policy = service.replica_policy
    spec: dict[str, object] = {}
    if not scales(policy):
        # where something scales the replicas, their number is not ours to set
        spec["replicas"] = replicas(policy)[0]
    spec["selector"] = {"matchLabels": selector(job)}
    if one_node_volume(job, settings) is not None:
        spec["strategy"] = {"type": "Recreate"}
    else:
        steps = {"maxUnavailable": 0, "maxSurge": 1}
        spec["strategy"] = {"type": "RollingUpdate", "rollingUpdate": steps}
    spec["progressDeadlineSeconds"] = int(service.readiness_probe.initial_delay) + _ROLLOUT
    spec["template"] = template
    meta = metadata.object_metadata(
        job,
        settings,
        names.job,
        labels={**job.resources.labels, **kueue.job_labels(job, settings)},
        annotations={
            metadata.SPEC_DIGEST: job.spec_digest,
            metadata.FILES_DIGEST: job.files_digest,
        },
    )
    body: dict[str, object] = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta,
        "spec": spec,
    }
    return Manifest("deployment.yaml", "deployment.yaml.j2", body)


def in_front(job: Job, settings: Settings, names: Names) -> Iterator[Manifest]:
    """The Service (with an Ingress where that is the way), and what scales the replicas."""
    service = job.task.service
    assert service is not None
    numbers = sorted({service_port(job, service), *port_numbers(job.resources.ports)})
    yield from exposed(job, settings, names.service, selector(job), numbers, inside=True)
    if scales(service.replica_policy):
        yield _autoscaler(job, settings, names, service.replica_policy)


def replicas(policy: ReplicaPolicy) -> tuple[int, int]:
    """Fewest and most replicas, those that are kept over and above the need among them."""
    more = policy.num_overprovision or 0
    most = policy.min_replicas if policy.max_replicas is None else policy.max_replicas
    return policy.min_replicas + more, most + more


def scales(policy: ReplicaPolicy) -> bool:
    fewest, most = replicas(policy)
    return most > fewest


def service_faults(job: Job, settings: Settings) -> Iterator[Diagnostic]:
    """What a service needs and the stack or a volume does not give."""
    service = job.task.service
    if service is None:
        return
    policy = service.replica_policy
    origin = service.origin.child("replica_policy")
    if scales(policy) and settings.requests_metric is None:
        yield codes.SERVICE_METRIC.at(
            origin.key_span("target_qps_per_replica"),
            f"`{job.target.key}` names no metric of requests by which replicas could be scaled",
            hint="set `metrics: {requests_per_second: <name>}` of the target",
            target=job.target.key,
        )
    if scales(policy) and target_qps(job, policy) is None:
        yield codes.SERVICE_METRIC.at(
            origin.span("target_qps_per_replica"),
            f"`target_qps_per_replica` has no number for {job.resources.accelerator}",
            target=job.target.key,
        )
    if service.tls is not None and settings.ports != "ingress":
        yield FIELD_REFUSED.at(
            service.origin.key_span("tls"),
            f"TLS ends at an Ingress, and `ports: {settings.ports}` makes none",
            hint="set `config.kubernetes.ports: ingress` in the stack",
            target=job.target.key,
        )
    mount = one_node_volume(job, settings)
    if mount is not None and replicas(policy)[1] > 1:
        yield model_mounts.VOLUME_ACCESS_MODE.at(
            mount.origin.span(),
            f"the volume is for one node, the service has up to {replicas(policy)[1]} replicas",
            hint="use a volume with `access_mode: ReadWriteMany` or ReadOnlyMany",
            target=job.target.key,
        )


def target_qps(job: Job, policy: ReplicaPolicy) -> float | None:
    """Requests a second of one replica, for this candidate's accelerator."""
    target = policy.target_qps_per_replica
    if not isinstance(target, Mapping):
        return target
    accelerator = job.resources.accelerator
    if accelerator is None:
        return None
    by_name = {str(key).lower(): value for key, value in target.items()}
    for name in (str(accelerator), accelerator.name):
        if name.lower() in by_name:
            return by_name[name.lower()]
    return None


def _autoscaler(job: Job, settings: Settings, names: Names, policy: ReplicaPolicy) -> Manifest:
    fewest, most = replicas(policy)
    rate = target_qps(job, policy) or 0.0
    milli = max(1, round(rate * 1000))
    average = str(milli // 1000) if milli % 1000 == 0 else f"{milli}m"
    metric = {
        "type": "Pods",
        "pods": {
            "metric": {"name": str(settings.requests_metric)},
            "target": {"type": "AverageValue", "averageValue": average},
        },
    }
    spec: dict[str, object] = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": names.job},
        # an autoscaler cannot start from nothing
        "minReplicas": max(1, fewest),
        "maxReplicas": most,
        "metrics": [metric],
        "behavior": {
            "scaleUp": {"stabilizationWindowSeconds": _window(policy.upscale_delay)},
            "scaleDown": {"stabilizationWindowSeconds": _window(policy.downscale_delay)},
        },
    }
    body: dict[str, object] = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata.object_metadata(job, settings, names.job),
        "spec": spec,
    }
    return Manifest("autoscaler.yaml", "object.yaml.j2", body)


def _window(seconds: float) -> int:
    return min(_LONGEST_WINDOW, max(0, round(seconds)))
