"""How a metrics system learns of the task's ports: the target's `metrics`."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.model import TargetSpec
from compiler.targets.interface import Job
from compiler.targets.kubernetes import metadata
from compiler.targets.kubernetes.additions import NOTHING, Addition
from compiler.targets.kubernetes.exposure import port_numbers
from compiler.targets.kubernetes.manifest import Manifest
from compiler.targets.kubernetes.metadata import Names
from compiler.targets.kubernetes.settings import Settings


def scraped(target: TargetSpec) -> str:
    """`none`, `annotations` or `pod-monitor`."""
    option = target.options.get("metrics")
    if isinstance(option, Mapping):
        option = option.get("scrape")
    return str(option or "none")


def metrics(job: Job, settings: Settings, names: Names) -> Addition:
    """Annotations that name the first port, or a PodMonitor for all of them; nothing for a task
    without ports."""
    numbers = port_numbers(job.resources.ports)
    if job.task.service is not None and job.task.service.port is not None:
        numbers = [job.task.service.port]
    kind = scraped(job.target)
    if not numbers or kind == "none":
        return NOTHING
    if kind == "annotations":
        return Addition(
            annotations={"prometheus.io/scrape": "true", "prometheus.io/port": str(numbers[0])}
        )
    # of this run alone: another has a monitor of its own
    own = metadata.own_labels(job)
    labels = {
        key: own[key] for key in (metadata.SET_LABEL, metadata.WORK_LABEL, metadata.RUN_LABEL)
    }
    if job.ends:
        labels[metadata.JOB_NAME] = names.job
    body: dict[str, object] = {
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "PodMonitor",
        "metadata": metadata.object_metadata(job, settings, job.name),
        "spec": {
            "selector": {"matchLabels": labels},
            "podMetricsEndpoints": [{"portNumber": number} for number in numbers],
        },
    }
    return Addition(
        # a port that no container declares is never asked
        container={"ports": [{"containerPort": number} for number in numbers]},
        manifests=(Manifest("pod-monitor.yaml", "object.yaml.j2", body),),
    )
