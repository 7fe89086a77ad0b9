"""The logs of a run: what its ranks write, line by line, as the kubelets hand it out."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Iterator, Mapping
from typing import Any

from compiler.diagnostics import TriplaneError, WorkFailed
from compiler.model import names
from compiler.planning.records import Record
from compiler.targets.kubernetes.deployer import ending
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.kinds import Ref
from compiler.targets.kubernetes.deployer.refusals import ApiRefused
from compiler.targets.kubernetes.deployer.workloads import (
    Workload,
    is_workload,
    member_of,
    pod_selector,
    rank_of,
    who,
    workload_of,
)
from compiler.targets.kubernetes.pod_config import CONTAINER

POLL_SECONDS = 1.0


def lines(cluster: Cluster, record: Record, *, follow: bool, tail: int | None) -> Iterator[str]:
    """Lines without their ends; with several ranks those of rank N begin with `(rank N) `, in a
    group with `(task rank N) `, of a service with `(replica NAME) `.

    `tail` counts the lines of each rank. With `follow`, ends when the run has ended.
    """
    seen = ending.one(cluster, record.work, record.run)
    ran = workload_of(seen.stored.objects) if seen else None
    if ran is None or not is_workload(ran):
        raise WorkFailed(f"{cluster.target}: nothing is left of {record.run_key} to read")
    there = cluster.client.find(cluster.kinds.path(ran))
    several = there is None or ran.kind == "Deployment" or Workload.of(there).ranks > 1
    if not follow:
        for pod in pods_of(cluster, ran, record):
            for line in _of_pod(cluster, pod, follow=False, tail=tail):
                yield _prefix(pod, several) + line
        return
    yield from _followed(cluster, record, ran, several, tail)


def _followed(
    cluster: Cluster, record: Record, ran: Ref, several: bool, tail: int | None
) -> Iterator[str]:
    """A thread a pod; what they read comes out in the order in which it arrives."""
    arrived: queue.Queue[str | TriplaneError] = queue.Queue(maxsize=10_000)
    readers: dict[str, threading.Thread] = {}

    def read(pod: Mapping[str, Any]) -> None:
        try:
            for line in _of_pod(cluster, pod, follow=True, tail=tail):
                arrived.put(_prefix(pod, several) + line)
        except TriplaneError as error:
            arrived.put(error)

    ended = False
    while True:
        for pod in pods_of(cluster, ran, record):
            name = pod["metadata"]["name"]
            if name not in readers and _can_be_read(pod):
                readers[name] = threading.Thread(target=read, args=(pod,), daemon=True)
                readers[name].start()
        deadline = time.monotonic() + POLL_SECONDS
        while (left := deadline - time.monotonic()) > 0:
            try:
                item = arrived.get(timeout=left)
            except queue.Empty:
                break
            if isinstance(item, TriplaneError):
                raise item
            yield item
        if any(thread.is_alive() for thread in readers.values()) or not arrived.empty():
            continue
        if ended:
            return
        seen = ending.one(cluster, record.work, record.run)
        ended = seen is None or not seen.verdict.state.is_live


def pods_of(cluster: Cluster, ran: Ref, record: Record) -> list[dict[str, Any]]:
    """The pods of a run that are there, by member and rank; of a rank the oldest first."""
    path = cluster.kinds.collection("v1", "Pod", ran.namespace)
    selector = f"{cluster.selector},{pod_selector(ran, names.cut(record.work, 63))}"
    found = cluster.client.items(path, labelSelector=selector)
    return sorted(
        found,
        key=lambda pod: (member_of(pod), rank_of(pod), pod["metadata"]["creationTimestamp"]),
    )


def _can_be_read(pod: Mapping[str, Any]) -> bool:
    states = [item.get("state") or {} for item in pod["status"].get("containerStatuses") or ()]
    return any("running" in state or "terminated" in state for state in states)


def _of_pod(
    cluster: Cluster, pod: Mapping[str, Any], *, follow: bool, tail: int | None
) -> Iterator[str]:
    meta = pod["metadata"]
    if not _can_be_read(pod):
        return
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log"
    query = {"container": CONTAINER}
    if follow:
        query["follow"] = "true"
    if tail is not None:
        query["tailLines"] = str(tail)
    rest = b""
    try:
        with cluster.client.stream(path, **query) as pieces:
            for piece in pieces:
                *whole, rest = (rest + piece).split(b"\n")
                for line in whole:
                    yield _text(line)
    except ApiRefused as error:
        if error.status != 404:
            raise
    if rest:
        yield _text(rest)


def _prefix(pod: Mapping[str, Any], several: bool) -> str:
    return f"({who(pod)}) " if several else ""


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace").rstrip("\r")
