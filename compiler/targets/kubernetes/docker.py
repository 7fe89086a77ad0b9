"""`enable_docker`: a daemon or a builder beside the task, for images made or run in it.

Both are sidecars, which end with the task. The daemon is privileged; the builder is not, but
needs the node's default confinement off.
"""

from __future__ import annotations

from collections.abc import Mapping

from compiler.model import names
from compiler.targets.interface import Job
from compiler.targets.kubernetes.additions import NOTHING, Addition
from compiler.targets.kubernetes.settings import Settings
from compiler.targets.kubernetes.volumes import FS_GROUP, claim_name

_DAEMON_IMAGE = "docker.io/library/docker:29-dind"
_BUILDER_IMAGE = "docker.io/moby/buildkit:v0.28.0-rootless"
_DAEMON_FOLDER = "/var/run/dind"
_BUILDER_FOLDER = "/run/user/1000/buildkit"
_BUILDER_USER = 1000
_CACHE = "triplane-docker-cache"
_SOCKET = "triplane-docker-socket"
_WHO = "TRIPLANE_RANK"
_RANK = "metadata.annotations['batch.kubernetes.io/job-completion-index']"
# Seconds: it may have to wait for another one that has its folder.
_STARTS_WITHIN = 600


def docker(job: Job, settings: Settings) -> Addition:
    """The sidecar of the mode asked for, its socket in the task, and where it keeps images."""
    mode = docker_mode(settings.enable_docker)
    if mode is None:
        return NOTHING
    build = mode == "BUILD"
    folder = _BUILDER_FOLDER if build else _DAEMON_FOLDER
    socket = f"unix://{folder}/{'buildkitd' if build else 'docker'}.sock"
    cache_mount: dict[str, object] = {
        "name": _CACHE,
        "mountPath": "/home/user/.local/share/buildkit" if build else "/var/lib/docker",
    }
    volumes: list[Mapping[str, object]] = [{"name": _SOCKET, "emptyDir": {}}]
    claim = _cache_claim(job, settings.enable_docker)
    if claim is None:
        volumes.append({"name": _CACHE, "emptyDir": {}})
    else:
        volumes.append({"name": _CACHE, "persistentVolumeClaim": {"claimName": claim}})
        # pods share the claim, and no two daemons one folder: a rank has that of the run before
        own = names.cut(f"{job.stack.set_name}-{job.work}", names.DNS_LABEL_LIMIT)
        cache_mount["subPathExpr"] = f"{own}/$({_WHO})"
    asked = ["buildctl", "--addr", socket, "debug", "workers"] if build else _docker(socket)
    sidecar: dict[str, object] = {
        "name": "buildkitd" if build else "dind",
        "image": _BUILDER_IMAGE if build else _DAEMON_IMAGE,
        "restartPolicy": "Always",
        "env": [{"name": _WHO, "valueFrom": {"fieldRef": {"fieldPath": _who(job)}}}],
        # the task starts once somebody answers
        "startupProbe": {
            "exec": {"command": asked},
            "periodSeconds": 1,
            "timeoutSeconds": 5,
            "failureThreshold": _STARTS_WITHIN,
        },
        "volumeMounts": [{"name": _SOCKET, "mountPath": folder}, cache_mount],
    }
    if build:
        sidecar["args"] = ["--addr", socket, "--oci-worker-no-process-sandbox"]
        sidecar["securityContext"] = {
            "runAsUser": _BUILDER_USER,
            "runAsGroup": _BUILDER_USER,
            "seccompProfile": {"type": "Unconfined"},
            "appArmorProfile": {"type": "Unconfined"},
        }
    else:
        sidecar["args"] = ["dockerd", f"--host={socket}"]
        sidecar["env"] = [*sidecar["env"], {"name": "DOCKER_TLS_CERTDIR", "value": ""}]  # type: ignore[misc]
        sidecar["securityContext"] = {"privileged": True}
    variable = "BUILDKIT_HOST" if build else "DOCKER_HOST"
    return Addition(
        env=({"name": variable, "value": socket},),
        init_containers=(sidecar,),
        volumes=tuple(volumes),
        mounts=({"name": _SOCKET, "mountPath": folder},),
        # the builder is not root, and writes into the claim
        spec={"securityContext": dict(FS_GROUP)} if build else {},
    )


def _docker(socket: str) -> list[str]:
    return ["docker", f"--host={socket}", "version"]


def _who(job: Job) -> str:
    """What tells the pods of a task apart: the rank; a replica of a service has a name alone."""
    return _RANK if job.ends else "metadata.name"


def docker_mode(value: object) -> str | None:
    """`ALL`, `BUILD` or None of `true`, a word, or a map."""
    if isinstance(value, Mapping):
        value = value.get("mode")
    if value is True:
        return "ALL"
    return str(value).upper() if value else None


def _cache_claim(job: Job, value: object) -> str | None:
    name = value.get("cache_volume") if isinstance(value, Mapping) else None
    if not name:
        return None
    volume = job.mounted.get(str(name))
    return claim_name(job.stack.set_name, volume) if volume is not None else str(name)
