"""What single features add to a pod: each is a function of its own that returns an Addition.

The pod that every task has is in pod.py. A feature never sees the pod or another feature, so
that each can be read, tested and left out by itself; only their sum is laid into the pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from compiler.targets.kubernetes.manifest import Manifest
from compiler.targets.kubernetes.places import Place

Entries = tuple[Mapping[str, object], ...]
# Seconds between a TERM and a KILL: time for a training loop to end its step and write.
GRACE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Addition:
    """Parts of a pod in the words of Kubernetes.

    `devices` are extended resources of the task's container, requested and limited alike;
    `capabilities` are added to it. `init_containers` come in order, sidecars among them.
    `container` are other fields of the task's container and `spec` of the pod, `manifests`
    objects beside it. `links` are places that the launcher makes lead to what was mounted
    elsewhere; `waits_for` names the files of the state folder by which sidecars say that all is
    written, before a rank may end. `scripts` are files of the script folder, by name.
    """

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    env: Entries = ()
    devices: Mapping[str, str] = field(default_factory=dict)
    capabilities: tuple[str, ...] = ()
    privileged: bool = False
    volumes: Entries = ()
    mounts: Entries = ()
    init_containers: Entries = ()
    node_selector: Mapping[str, str] = field(default_factory=dict)
    tolerations: Entries = ()
    pod_affinity: Entries = ()
    container: Mapping[str, object] = field(default_factory=dict)
    spec: Mapping[str, object] = field(default_factory=dict)
    manifests: tuple[Manifest, ...] = ()
    links: tuple[Place, ...] = ()
    waits_for: tuple[str, ...] = ()
    scripts: Mapping[str, str] = field(default_factory=dict)


def variables(values: Mapping[str, str]) -> Entries:
    """Entries of a container's `env`."""
    return tuple({"name": name, "value": value} for name, value in values.items())


NOTHING = Addition()
"""What a feature adds that the task makes no use of."""


def combined(additions: Iterable[Addition]) -> Addition:
    """The sum: lists in order, maps laid over each other, one privileged feature is enough."""
    some = [addition for addition in additions if addition is not NOTHING]
    if len(some) < 2:
        return some[0] if some else NOTHING
    values: dict[str, Any] = {}
    for addition in some:
        for name in _NAMES:
            new = getattr(addition, name)
            if not new:
                continue
            old = values.get(name)
            if not old:
                values[name] = new
            elif isinstance(new, Mapping):
                values[name] = {**old, **new}
            elif isinstance(new, tuple):
                values[name] = (*old, *(item for item in new if item not in old))
    return Addition(**values)


_NAMES = tuple(item.name for item in fields(Addition))
