"""Running a command beside a rank's own: the API's `pods/exec` over a WebSocket.

Each message is one channel's: its first byte says which. The exit code comes last, as a status
on a channel of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from compiler.diagnostics import TargetUnreachable, WorkFailed
from compiler.planning.records import Record
from compiler.targets import streams as ends
from compiler.targets.interface import Streams
from compiler.targets.kubernetes.deployer import ending
from compiler.targets.kubernetes.deployer.cluster import Cluster
from compiler.targets.kubernetes.deployer.logs import pods_of
from compiler.targets.kubernetes.deployer.workloads import (
    member_of,
    rank_of,
    who,
    workload_of,
)
from compiler.targets.kubernetes.group_names import replicated_name
from compiler.targets.kubernetes.pod import SCRIPT_FOLDER, STATE_FOLDER
from compiler.targets.kubernetes.pod_config import CONTAINER

# The second knows no end of the input; servers before 1.30 have nothing newer.
_PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")
_STDIN, _STDOUT, _STDERR, _STATUS, _RESIZE, _CLOSE = 0, 1, 2, 3, 4, 255
# The environment of the rank's run: what the launcher noted, and the same prologue.
_ENTER = (
    f"cd / && exec /bin/bash {SCRIPT_FOLDER}/prologue.sh exec {SCRIPT_FOLDER} "
    f'"$JOB_COMPLETION_INDEX" "$(cat {STATE_FOLDER}/node-ips)" "" "$@"'
)


def execute(
    cluster: Cluster, record: Record, command: Sequence[str], streams: Streams, *, rank: int
) -> int:
    """The command's exit code. Of a group ranks are counted through its tasks, in order. Raise
    WorkFailed where there is no such rank, or it does not run."""
    pod = _pod(cluster, record, rank)
    if member_of(pod) and os.isatty(streams.stderr):
        ends.write(streams.stderr, f"{who(pod)} of {record.work}\n".encode())
    words = ("/bin/bash", "-c", _ENTER, "triplane", *command)
    return run_in(cluster, pod, CONTAINER, words, streams)


def run_in(
    cluster: Cluster,
    pod: Mapping[str, Any],
    container: str,
    words: Sequence[str],
    streams: Streams,
) -> int:
    """The exit code of a command in a container of a pod. Raise WorkFailed if it cannot start."""
    meta = pod["metadata"]
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/exec"
    query = [("container", container), ("stdout", "true"), *(("command", word) for word in words)]
    if streams.stdin is not None:
        query.append(("stdin", "true"))
    # a terminal has one stream for both
    query.append(("tty", "true") if streams.terminal else ("stderr", "true"))
    with cluster.client.socket(path, _PROTOCOLS, query) as socket:
        return _talk(cluster.target, socket, streams)


def _pod(cluster: Cluster, record: Record, rank: int) -> Mapping[str, Any]:
    seen = ending.one(cluster, record.work, record.run)
    if seen is None or not seen.verdict.state.is_live:
        state = f"has ended ({seen.verdict.state})" if seen else "is gone"
        raise WorkFailed(f"{cluster.target}: run {record.run} of {record.work} {state}")
    ran = workload_of(seen.stored.objects)
    assert ran is not None  # only what runs is live
    pods = pods_of(cluster, ran, record)
    if ran.kind == "Deployment":  # its replicas have no order but that of their names
        pods = sorted(filter(_runs, pods), key=lambda pod: pod["metadata"]["name"])[rank:][:1]
        called = f"rank {rank}"
    elif record.members and not _is_pipeline(seen.job):
        task, own_rank = _in_group(cluster.target, record, rank)
        called = f"{task} rank {own_rank}"
        name = replicated_name(task)
        pods = [pod for pod in pods if (member_of(pod), rank_of(pod)) == (name, own_rank)]
    else:  # of a pipeline one task runs at a time
        pods, called = [pod for pod in pods if rank_of(pod) == rank], f"rank {rank}"
    running = [pod for pod in pods if _runs(pod)]
    if running:
        return running[-1]
    said = f": {seen.verdict.detail}" if seen.verdict.detail else ""
    state = "does not run" if pods else "is not there"
    raise WorkFailed(f"{cluster.target}: {called} of {record.work} {state}{said}")


def _in_group(target: str, record: Record, rank: int) -> tuple[str, int]:
    """(task, its rank) of a rank that is counted through the tasks."""
    left = rank
    for task, nodes in record.members:
        if left < nodes:
            return task, left
        left -= nodes
    ranks = sum(nodes for _, nodes in record.members)
    raise WorkFailed(f"{target}: {record.work} has the ranks 0 to {ranks - 1}, not {rank}")


def _is_pipeline(body: Mapping[str, Any] | None) -> bool:
    jobs = ((body or {}).get("spec") or {}).get("replicatedJobs") or ()
    return any(item.get("dependsOn") for item in jobs)


def _runs(pod: Mapping[str, Any]) -> bool:
    states = pod.get("status", {}).get("containerStatuses") or ()
    return any(
        item["name"] == CONTAINER and "running" in (item.get("state") or {}) for item in states
    )


def _talk(target: str, socket: Any, streams: Streams) -> int:
    import websockets.exceptions

    def finish() -> None:
        if socket.subprotocol == _PROTOCOLS[0]:
            socket.send(bytes([_CLOSE, _STDIN]))

    def tell(columns: int, lines: int) -> None:
        body = json.dumps({"Width": columns, "Height": lines})
        socket.send(bytes([_RESIZE]) + body.encode())

    closed = websockets.exceptions.ConnectionClosed
    with (
        ends.raw(streams),
        ends.resizing(streams, tell),
        ends.sending(streams, lambda data: socket.send(bytes([_STDIN]) + data), finish, closed),
    ):
        try:
            for message in socket:
                data = message.encode() if isinstance(message, str) else message
                channel, text = data[0], data[1:]
                if channel == _STDOUT:
                    ends.write(streams.stdout, text)
                elif channel == _STDERR:
                    ends.write(streams.stderr, text)
                elif channel == _STATUS:
                    return _exit_code(target, json.loads(text))
        except closed as error:
            raise TargetUnreachable(target, f"the connection broke: {error}") from None
    raise TargetUnreachable(target, "the connection ended before the command did")


def _exit_code(target: str, status: Mapping[str, Any]) -> int:
    if status.get("status") == "Success":
        return 0
    for cause in (status.get("details") or {}).get("causes") or ():
        if cause.get("reason") == "ExitCode" and str(cause.get("message")).isdigit():
            return int(cause["message"])
    raise WorkFailed(f"{target}: {status.get('message') or 'the command could not be started'}")
