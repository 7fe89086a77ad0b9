"""One claim, one volume of the pod: the kubelet waits for ever on a claim that a pod has twice.

Features do not know each other, so that a task's own mounts, a cache and its files may each bring
a volume for the same claim.
"""

from __future__ import annotations

from collections.abc import Mapping

_CLAIM = "persistentVolumeClaim"
_LISTS = ("initContainers", "containers")


def with_single_claims(spec: Mapping[str, object]) -> dict[str, object]:
    """The pod's spec with the later volumes of a claim left out, and their mounts led to the first
    one; that is read-only only if all of them are."""
    volumes = spec.get("volumes")
    kept: list[dict] = []
    first: dict[str, dict] = {}
    led: dict[str, str] = {}
    for volume in volumes if isinstance(volumes, list) else ():
        source = volume.get(_CLAIM)
        claim = source.get("claimName") if isinstance(source, Mapping) else None
        before = first.get(claim) if claim is not None else None
        if before is None:
            kept.append(dict(volume))
            if claim is not None:
                first[claim] = kept[-1]
            continue
        led[volume["name"]] = before["name"]
        if before[_CLAIM].get("readOnly") and not source.get("readOnly"):
            before[_CLAIM] = {"claimName": claim}
    if not led:
        return dict(spec)
    changed: dict[str, object] = {**spec, "volumes": kept}
    for field in _LISTS:
        containers = spec.get(field)
        if isinstance(containers, list):
            changed[field] = [_mounting(container, led) for container in containers]
    return changed


def _mounting(container: Mapping, led: Mapping[str, str]) -> dict[str, object]:
    mounts = [
        {**mount, "name": led.get(mount["name"], mount["name"])}
        for mount in container.get("volumeMounts") or ()
    ]
    return {**container, "volumeMounts": mounts} if mounts else dict(container)
