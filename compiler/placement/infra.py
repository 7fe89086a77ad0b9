"""Which of a stack's targets an `infra` allows."""

from __future__ import annotations

from functools import lru_cache

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
    return list(_matching(infra, stack))


@lru_cache(maxsize=256)
def _matching(infra: Infra, stack: Stack) -> tuple[TargetSpec, ...]:
    return tuple(target for target in stack.targets.values() if _matches(infra, target))


def names_for(infra: Infra, stack: Stack) -> list[str]:
    """What could stand as the second part of `infra` in this stack, for suggestions."""
    targets = [item for item in stack.targets.values() if _is_of_kind(infra, item)]
    return [name for item in targets for name in sorted(target_names(item))]


def _matches(infra: Infra, target: TargetSpec) -> bool:
    if not _is_of_kind(infra, target):
        return False
    return infra.region is None or infra.region in target_names(target)


def _is_of_kind(infra: Infra, target: TargetSpec) -> bool:
    return infra.cloud is None or KIND_OF_CLOUD.get(infra.cloud.lower()) is target.kind


def target_names(target: TargetSpec) -> set[str]:
    """What may stand for a target behind its kind: its key, and its context or region."""
    names = {target.key}
    if target.kind is TargetKind.KUBERNETES:
        names.add(str(target.options.get("context") or target.key))
    if target.kind is TargetKind.AWS:
        names.add(str(target.options.get("region") or target.key))
    return names
