"""Steps of the engine as changes of a plan."""

from __future__ import annotations

from compiler.planning.plan import ObjectChange
from compiler.targets.pulumi.steps import ResourceStep


def object_change(folder: str, step: ResourceStep) -> ObjectChange:
    """A resource as an object of a plan; `folder` is where the target's files lie."""
    return ObjectChange(
        path=f"{folder}/{step.kind}/{step.name}",
        name=step.address,
        action=step.action,
        fields=step.fields,
    )


def reasons(steps: tuple[ResourceStep, ...]) -> tuple[str, ...]:
    """Why resources are replaced: `... is replaced: its instanceType cannot be changed`."""
    return tuple(
        f"{step.address} is replaced: its {', '.join(step.forced_by)} cannot be changed in place"
        for step in steps
        if step.forced_by
    )
