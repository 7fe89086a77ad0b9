"""All features that add to a pod, in the order in which they are laid into it."""

from __future__ import annotations

from collections.abc import Sequence

from compiler.diagnostics import Diagnostics
from compiler.targets.interface import Job
from compiler.targets.kubernetes.additions import Addition, combined
from compiler.targets.kubernetes.buckets import buckets
from compiler.targets.kubernetes.docker import docker
from compiler.targets.kubernetes.exposure import ports
from compiler.targets.kubernetes.hooks import hooks
from compiler.targets.kubernetes.kueue import queued_pods
from compiler.targets.kubernetes.metadata import Names
from compiler.targets.kubernetes.metrics import metrics
from compiler.targets.kubernetes.network import network
from compiler.targets.kubernetes.pod import SCRIPT_FOLDER, STATE_FOLDER
from compiler.targets.kubernetes.secrets import SecretUse
from compiler.targets.kubernetes.serving import replica_probes
from compiler.targets.kubernetes.settings import Settings
from compiler.targets.kubernetes.spot import capacity
from compiler.targets.kubernetes.stored import Stored, kept
from compiler.targets.kubernetes.volumes import pod_volumes


def additions_of(
    job: Job,
    settings: Settings,
    names: Names,
    secrets: Sequence[SecretUse],
    stored: Sequence[Stored],
    diagnostics: Diagnostics,
) -> Addition:
    """The sum of what the features add to the job's pods; `stored` are its own files that
    lie elsewhere."""
    return combined(
        (
            capacity(job, settings),
            queued_pods(job, settings),
            network(job, settings, names, diagnostics),
            hooks(job.task, SCRIPT_FOLDER, STATE_FOLDER),
            replica_probes(job, SCRIPT_FOLDER),
            docker(job, settings),
            ports(job, settings, names),
            metrics(job, settings, names),
            pod_volumes(job, settings, diagnostics),
            kept(stored),
            buckets(job, secrets, stored, SCRIPT_FOLDER, STATE_FOLDER),
        )
    )
