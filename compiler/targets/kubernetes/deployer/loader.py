"""A pod for a moment, through which an apply puts files into a volume of the cluster.

Nothing but a pod can write into a claim. It is a Job that sleeps, so that the cluster removes it
even where the apply was killed; archives go in by `pods/exec`, and get their names when whole.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO, Any

from compiler.diagnostics import WorkFailed
from compiler.model import TargetSpec, names
from compiler.rendering.filetree import FileTree
from compiler.targets.interface import Progress, Streams
from compiler.targets.kubernetes.buckets import HELPER_IMAGE
from compiler.targets.kubernetes.deployer.attach import run_in
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.verdict import waiting
from compiler.targets.kubernetes.deployer.workloads import is_suspended
from compiler.targets.kubernetes.metadata import JOB_NAME, MANAGED_BY
from compiler.targets.kubernetes.pod_security import RESTRICTED, RESTRICTED_CONTEXT
from compiler.targets.kubernetes.stored import FOLDER, archive_name
from compiler.targets.packing import packed

_CONTAINER = "files"
_MOUNT = "/files"
# The pod has to get a node and its image; then it stays for as long as an upload may take.
_STARTS_WITHIN, _LASTS = 600, 3600
_POLL_SECONDS = 1.0
_USER = 1000
_HAS = '[ -e "$1/$2" ]'
# Of the input `$3` bytes, as old servers do not say where it ends.
_KEEP = (
    'mkdir -p "$1" && cd "$1" && new=.$2.$$ && head -c "$3" >"$new" && '
    '[ "$(wc -c <"$new")" -eq "$3" ] && chmod 644 "$new" && mv "$new" "$2"'
)


@contextmanager
def loader(
    cluster: Cluster, target: TargetSpec, namespace: str, claim: str, progress: Progress
) -> Iterator[Callable[[FileTree], None]]:
    """A function that puts a tree into the claim, unless it is there; the pod goes at the end.

    Raise WorkFailed where the pod does not start, or the volume does not take the files.
    """
    jobs = cluster.kinds.collection("batch/v1", "Job", namespace)
    progress(f"start a pod that writes to the volume {claim}")
    body = _job(cluster, target, claim)
    name = cluster.client.call("POST", jobs, body)["metadata"]["name"]
    try:
        pod = _started(cluster, namespace, f"{jobs}/{name}", name)

        def run(script: str, *words: str, stdin: IO[bytes] | None = None) -> tuple[int, str]:
            command = ("/bin/sh", "-c", script, "triplane", f"{_MOUNT}/{FOLDER}", *words)
            with tempfile.TemporaryFile() as said, open(os.devnull, "wb") as nowhere:
                source = stdin.fileno() if stdin is not None else None
                streams = Streams(source, nowhere.fileno(), said.fileno())
                code = run_in(cluster, pod, _CONTAINER, command, streams)
                said.seek(0)
                return code, said.read().decode("utf-8", "replace").strip()

        def keep(tree: FileTree) -> None:
            if run(_HAS, archive_name(tree))[0] == 0:
                return
            with packed(tree, progress) as file:
                size = str(os.fstat(file.fileno()).st_size)
                code, said = run(_KEEP, archive_name(tree), size, stdin=file)
            if code:
                words = said.splitlines()[-1] if said else f"exit code {code}"
                raise WorkFailed(f"{cluster.target}: the volume {claim} takes no files: {words}")

        yield keep
    finally:
        cluster.client.call("DELETE", f"{jobs}/{name}", {"propagationPolicy": "Background"})


def _started(cluster: Cluster, namespace: str, job: str, name: str) -> Mapping[str, Any]:
    pods = cluster.kinds.collection("v1", "Pod", namespace)
    deadline = time.monotonic() + _STARTS_WITHIN
    said = "no pod yet"
    while True:
        for pod in cluster.client.items(pods, labelSelector=f"{JOB_NAME}={name}"):
            states = pod.get("status", {}).get("containerStatuses") or ()
            if any("running" in (item.get("state") or {}) for item in states):
                return pod
            said = waiting(pod, 1) or said
        if time.monotonic() > deadline:
            if is_suspended(cluster.client.find(job) or {}):
                said = "a queue that takes all Jobs of the namespace holds it"
            raise WorkFailed(
                f"{cluster.target}: the pod that writes files to a volume does not start: {said}"
            )
        time.sleep(_POLL_SECONDS)


def _job(cluster: Cluster, target: TargetSpec, claim: str) -> dict[str, Any]:
    """Without the labels of the set, as it is no run of anything."""
    restricted = target.options.get("pod_security") == RESTRICTED
    container: dict[str, Any] = {
        "name": _CONTAINER,
        "image": str(target.options.get("helper_image") or HELPER_IMAGE),
        "command": ["/bin/sh", "-c", f"sleep {_LASTS}"],
        "resources": {
            "requests": {"cpu": "100m", "memory": "128Mi"},
            "limits": {"cpu": "1", "memory": "512Mi"},
        },
        "volumeMounts": [{"name": _CONTAINER, "mountPath": _MOUNT}],
    }
    spec: dict[str, Any] = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 0,
        "containers": [container],
        "volumes": [{"name": _CONTAINER, "persistentVolumeClaim": {"claimName": claim}}],
    }
    if restricted:
        container["securityContext"] = dict(RESTRICTED_CONTEXT)
        spec["securityContext"] = {"runAsNonRoot": True, "runAsUser": _USER, "fsGroup": _USER}
    prefix = names.cut(f"triplane-files-{names.dns_label(cluster.set_name)}", 50)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"generateName": f"{prefix}-", "labels": {MANAGED_BY: "triplane"}},
        "spec": {
            "backoffLimit": 0,
            "activeDeadlineSeconds": _STARTS_WITHIN + _LASTS,
            "ttlSecondsAfterFinished": 60,
            "template": {"metadata": {"labels": {MANAGED_BY: "triplane"}}, "spec": spec},
        },
    }
