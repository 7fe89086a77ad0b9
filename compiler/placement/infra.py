"""Which of a stack's targets an `infra` allows."""

from __future__ import annotations

from compiler.model import Infra, Stack, TargetKind, TargetSpec

KIND_OF_CLOUD = {
    "kubernetes": TargetKind.KUBERNETES,
    "k8s": TargetKind.KUBERNETES,
    "slurm": TargetKind.SLURM,
    "aws": TargetKind.AWS,
}


def matching_targets(infra: Infra, stack: Stack) -> list[TargetSpec]:
    """The targets that `infra` names, in the stack's order; all of them for `*`.

    The second part is a target's key; a Kubernetes context's name or an AWS region works too.
    """
    return [target for target in stack.targets.values() if _matches(infra, target)]


def _matches(infra: Infra, target: TargetSpec) -> bool:
    if infra.cloud is not None and KIND_OF_CLOUD.get(infra.cloud.lower()) is not target.kind:
        return False
    if infra.region is None:
        return True
    names = {target.key}
    if target.kind is TargetKind.KUBERNETES:
        names.add(str(target.options.get("context") or target.key))
    if target.kind is TargetKind.AWS:
        names.add(str(target.options.get("region") or target.key))
    return infra.region in names
