"""`priority` and `priority_class`: a number is the class of the target that it reaches.

Kubernetes and Kueue know classes alone. A target's `priority_classes` says at which number of the
dialect each class begins.
"""

from __future__ import annotations

from collections.abc import Mapping

from compiler.model import Resources, TargetSpec


def priority_class(resources: Resources, target: TargetSpec) -> str | None:
    """The class that the task names, else the one that its number reaches, the highest of those
    that begin at or below it; None for neither."""
    if resources.priority_class is not None:
        return resources.priority_class
    classes = target.options.get("priority_classes")
    if resources.priority is None or not isinstance(classes, Mapping):
        return None
    reached = [(first, name) for name, first in classes.items() if first <= resources.priority]
    return max(reached)[1] if reached else None


def written_as(resources: Resources) -> str:
    """The field that the class comes from."""
    return "priority" if resources.priority_class is None else "priority_class"
