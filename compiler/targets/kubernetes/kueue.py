"""What Kueue reads, each in the place where it looks: the queue and the priority on the Job,
the topology on its pods. Whether a Job is suspended and who manages it is Kueue's to write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from compiler.source.numbers import whole
from compiler.targets.interface import Job
from compiler.targets.kubernetes.additions import NOTHING, Addition
from compiler.targets.kubernetes.priorities import priority_class
from compiler.targets.kubernetes.settings import Settings

QUEUE_NAME = "kueue.x-k8s.io/queue-name"
PRIORITY_CLASS = "kueue.x-k8s.io/priority-class"
# Annotations that mean something on pods, and are a fault anywhere else.
OF_PODS = "kueue.x-k8s.io/podset-"
_TOPOLOGY = "kueue.x-k8s.io/podset-{}-topology"
_FLEX_START = "cloud.google.com/gke-flex-start"
_LONGEST_RUN = "provreq.kueue.x-k8s.io/maxRunDurationSeconds"
_UNITS = {"m": 60, "h": 3600, "d": 86400, "w": 604800}


def job_labels(job: Job, settings: Settings) -> dict[str, str]:
    """The labels of a Job or JobSet that waits in a queue; none without one."""
    if settings.queue is None:
        return {}
    labels = {QUEUE_NAME: settings.queue}
    if named := priority_class(job.resources, job.target):
        labels[PRIORITY_CLASS] = named
    return labels


def job_annotations(settings: Settings) -> dict[str, str]:
    """How long the capacity that is provisioned for the Job may be kept."""
    if settings.queue is None or not _flex_start(settings):
        return {}
    seconds = _seconds(settings.dws.get("max_run_duration"))
    return {} if seconds is None else {_LONGEST_RUN: str(seconds)}


def queued_pods(job: Job, settings: Settings) -> Addition:
    """The topology that a queue keeps pods in; without a queue, nodes of flex start."""
    if settings.queue is None:
        return Addition(node_selector={_FLEX_START: "true"}) if _flex_start(settings) else NOTHING
    option = job.target.options.get("queue")
    topology = option.get("topology") if isinstance(option, Mapping) else None
    if not isinstance(topology, Mapping):
        return NOTHING
    return Addition(
        annotations={
            _TOPOLOGY.format(kind): "true" if value is True else str(value)
            for kind, value in topology.items()
            if value
        }
    )


def needs_gke(settings: Settings) -> bool:
    """Whether flex start is asked for where neither Kueue nor Google's nodes can give it."""
    return _flex_start(settings) and settings.queue is None and settings.scheme != "gke"


def _flex_start(settings: Settings) -> bool:
    return bool(settings.dws.get("enabled"))


def _seconds(value: object) -> int | None:
    """Minutes, or a number with a unit; None where nothing is said."""
    found = re.fullmatch(r"(\d+)([mhdw]?)", str(value).lower()) if value is not None else None
    return whole(found[1]) * _UNITS[found[2] or "m"] if found else None
