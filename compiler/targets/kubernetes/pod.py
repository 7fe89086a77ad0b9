"""The pod of one rank, as plain data."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.targets.interface import Job
from compiler.targets.kubernetes import metadata, placement
from compiler.targets.kubernetes.accelerators import Selection
from compiler.targets.kubernetes.additions import GRACE, Addition
from compiler.targets.kubernetes.claims import with_single_claims
from compiler.targets.kubernetes.helpers import helper
from compiler.targets.kubernetes.metadata import Names
from compiler.targets.kubernetes.pod_config import CONTAINER
from compiler.targets.kubernetes.pod_security import RESTRICTED, RESTRICTED_CONTEXT
from compiler.targets.kubernetes.priorities import priority_class
from compiler.targets.kubernetes.requests import (
    NodeRequest,
    cpu_quantity,
    memory_quantity,
)
from compiler.targets.kubernetes.secrets import SecretUse
from compiler.targets.kubernetes.settings import Settings

SCRIPT_FOLDER = "/triplane/scripts"
FILES_FOLDER = "/triplane/files"
STATE_FOLDER = "/triplane/state"
_SHARED_MEMORY = "/dev/shm"
# Setup may take any time: the highest number of failures that a probe can allow.
_NEVER = 2**31 - 1


@dataclass(frozen=True, slots=True)
class PodInput:
    """Everything a pod is made of, decided before."""

    job: Job
    settings: Settings
    names: Names
    request: NodeRequest
    selection: Selection | None
    secrets: tuple[SecretUse, ...]
    has_files: bool
    added: Addition
    # mount paths that the user's pod_config brings, so that ours make room
    taken_paths: frozenset[str]
    host_network: bool


def pod_template(what: PodInput) -> dict[str, object]:
    """`spec.template` of the Job, before `pod_config`."""
    job, settings = what.job, what.settings
    labels = {
        **metadata.custom(settings, "labels"),
        **job.resources.labels,
        **what.added.labels,
        **metadata.own_labels(job),
    }
    if job.ends:
        labels[metadata.JOB_NAME] = what.names.job
    meta: dict[str, object] = {"labels": labels}
    annotations = {**metadata.custom(settings, "annotations"), **what.added.annotations}
    if annotations:
        meta["annotations"] = annotations
    return {"metadata": meta, "spec": _pod_spec(what)}


def _pod_spec(what: PodInput) -> dict[str, object]:
    job, settings, selection, added = what.job, what.settings, what.selection, what.added
    spec: dict[str, object] = {
        "restartPolicy": "Never" if job.ends else "Always",
        "terminationGracePeriodSeconds": GRACE,
        # a namespace with many runs has many services: not a variable for each of them
        "enableServiceLinks": False,
    }
    if job.ends:
        spec["subdomain"] = what.names.service
    if settings.service_account is None:
        spec["automountServiceAccountToken"] = False
    else:
        spec["serviceAccountName"] = settings.service_account
    named = priority_class(job.resources, job.target)
    if settings.queue is None and named is not None:
        spec["priorityClassName"] = named
    if what.host_network:
        spec["dnsPolicy"] = "ClusterFirstWithHostNet"
    if selector := {**placement.node_selector(job, selection), **added.node_selector}:
        spec["nodeSelector"] = selector
    if affinity := placement.affinity(
        job, settings, what.names, selection, added, what.host_network
    ):
        spec["affinity"] = affinity
    tolerations = (*(selection.tolerations if selection is not None else ()), *added.tolerations)
    if tolerations:
        spec["tolerations"] = [dict(item) for item in tolerations]
    volumes, mounts = _volumes(what)
    if added.init_containers:
        spec["initContainers"] = [
            helper(item, what.request, settings.limits, restricted=_is_restricted(what))
            for item in added.init_containers
        ]
    spec["containers"] = [_container(what, mounts)]
    spec["volumes"] = volumes
    return with_single_claims({**spec, **added.spec})


def _container(what: PodInput, mounts: list[dict]) -> dict[str, object]:
    image = what.job.resources.image
    container: dict[str, object] = {
        "name": CONTAINER,
        "image": image.docker if image and image.docker else what.settings.default_image,
        "command": ["/bin/bash", f"{SCRIPT_FOLDER}/launcher.sh", "all"],
        "env": _env(what),
        "resources": _resources(what),
        "volumeMounts": mounts,
    }
    if what.job.task.num_nodes > 1:
        # started, and so ready, means: setup is done (peers.sh has the barrier). Nothing asks again
        # while the task runs: no probe disturbs it, and a starved node unmakes no barrier.
        container["startupProbe"] = {
            "exec": {"command": ["/bin/bash", "-c", f"[[ -e {STATE_FOLDER}/ready ]]"]},
            "periodSeconds": 2,
            "timeoutSeconds": 5,
            "failureThreshold": _NEVER,
        }
    if context := _security(what):
        container["securityContext"] = context
    return {**container, **what.added.container}


def _is_restricted(what: PodInput) -> bool:
    return what.job.target.options.get("pod_security") == RESTRICTED


def _security(what: PodInput) -> dict[str, object]:
    added = what.added
    context: dict[str, object] = {}
    if _is_restricted(what):
        context.update(RESTRICTED_CONTEXT)
    if added.capabilities:
        context["capabilities"] = {"add": list(added.capabilities)}
    if added.privileged:
        context["privileged"] = True
    return context


def _env(what: PodInput) -> list[dict[str, object]]:
    env: list[dict[str, object]] = [
        {"name": "TRIPLANE_POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}}
    ]
    if what.job.task.service is not None:
        # each replica is a rank of its own
        env.append({"name": "JOB_COMPLETION_INDEX", "value": "0"})
        pod_name = {"fieldRef": {"fieldPath": "metadata.name"}}
        env.append({"name": "SKYPILOT_SERVE_REPLICA_ID", "valueFrom": pod_name})
    if what.selection is None:
        # or a CUDA image would get all devices of the node it happens to be on
        env.append({"name": "NVIDIA_VISIBLE_DEVICES", "value": "none"})
    env += [dict(item) for item in what.added.env]
    env += [secret.reference for secret in what.secrets if secret.mount_path is None]
    return env


def _resources(what: PodInput) -> dict[str, object]:
    request, selection, factor = what.request, what.selection, what.settings.limits
    requests = {"cpu": cpu_quantity(request.cpus), "memory": memory_quantity(request.memory)}
    if request.disk is not None:
        requests["ephemeral-storage"] = f"{request.disk}Gi"
    limits: dict[str, str] = {}
    if factor is not None:
        limits["cpu"] = cpu_quantity(request.cpus * factor)
        limits["memory"] = memory_quantity(request.memory * factor)
        if request.disk is not None:
            limits["ephemeral-storage"] = memory_quantity(request.disk * factor)
    if selection is not None:
        requests[selection.resource] = limits[selection.resource] = str(selection.count)
    for name, amount in what.added.devices.items():
        requests[name] = limits[name] = amount
    return {"requests": requests, "limits": limits} if limits else {"requests": requests}


def _volumes(what: PodInput) -> tuple[list[dict], list[dict]]:
    """(the pod's volumes, the container's mounts)."""
    volumes: list[dict] = [
        {"name": "triplane-scripts", "configMap": {"name": what.names.scripts}},
        {"name": "triplane-state", "emptyDir": {}},
    ]
    mounts: list[dict] = [
        {"name": "triplane-scripts", "mountPath": SCRIPT_FOLDER, "readOnly": True},
        {"name": "triplane-state", "mountPath": STATE_FOLDER},
    ]
    if what.has_files:
        volumes.append({"name": "triplane-files", "configMap": {"name": what.names.files}})
        mounts.append({"name": "triplane-files", "mountPath": FILES_FOLDER, "readOnly": True})
    if _SHARED_MEMORY not in what.taken_paths:
        # counts as the pod's memory, so it is no larger than what the pod asks for
        size = memory_quantity(what.request.memory)
        volumes.append(
            {"name": "triplane-shm", "emptyDir": {"medium": "Memory", "sizeLimit": size}}
        )
        mounts.append({"name": "triplane-shm", "mountPath": _SHARED_MEMORY})
    for index, secret in enumerate(item for item in what.secrets if item.mount_path):
        name = f"triplane-secret-{index}"
        items = [{"key": secret.key, "path": secret.name}]
        volumes.append({"name": name, "secret": {"secretName": secret.object_name, "items": items}})
        path = secret.file if secret.is_in_home else secret.mount_path
        mounts.append({"name": name, "mountPath": path, "subPath": secret.name, "readOnly": True})
    volumes += [dict(item) for item in what.added.volumes]
    mounts += [dict(item) for item in what.added.mounts]
    return volumes, mounts
