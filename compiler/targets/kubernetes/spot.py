"""Spot capacity, and the opposite: work on demand that must not be moved."""

from __future__ import annotations

from compiler.targets.interface import Job
from compiler.targets.kubernetes.additions import NOTHING, Addition
from compiler.targets.kubernetes.settings import Settings

# How nodes labelled in a cloud's own way say that they are spot capacity.
SPOT_LABELS = {
    "gke": ("cloud.google.com/gke-spot", "true"),
    "karpenter": ("karpenter.sh/capacity-type", "spot"),
}
_DO_NOT_DISRUPT = "karpenter.sh/do-not-disrupt"


def capacity(job: Job, settings: Settings) -> Addition:
    """Spot nodes where the task asks for them; else pods that Karpenter may not move while
    they have work that ends."""
    if not job.resources.use_spot:
        if settings.scheme == "karpenter" and job.ends:
            return Addition(annotations={_DO_NOT_DISRUPT: "true"})
        return NOTHING
    label = SPOT_LABELS.get(settings.scheme)
    if label is None:
        return NOTHING
    key, value = label
    taint = {"key": key, "operator": "Equal", "value": value, "effect": "NoSchedule"}
    return Addition(node_selector={key: value}, tolerations=(taint,))
