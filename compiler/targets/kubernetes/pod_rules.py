"""Rules about a pod that no schema says: names, images, references between its parts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from compiler.model import label_problem
from compiler.targets.kubernetes.scalars import Fault, Finding, Path, shown

DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
DNS_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
_CONTAINER_LISTS = ("initContainers", "containers")
# Fields of a pod that name an object of the cluster.
_OBJECT_NAMES = ("priorityClassName", "serviceAccountName", "schedulerName", "runtimeClassName")
_LONGEST_NAME = 253
# A reference as container runtimes read it: host and port, path, tag, digest.
_HOST = r"[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?(?::[0-9]+)?|\[[0-9A-Fa-f:]+\](?::[0-9]+)?"
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:(?:{_HOST})/)?{_PART}(?:/{_PART})*(?::[A-Za-z0-9_][A-Za-z0-9_.-]{{0,127}})?"
    r"(?:@[A-Za-z][A-Za-z0-9]*(?:[+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?"
)
_label_problem = lru_cache(maxsize=1024)(label_problem)


def pod_findings(spec: dict, path: Path) -> Iterator[Finding]:
    """Faults of a pod's spec at `path`, as far as they are knowable offline."""
    yield from _names(spec, path)
    volumes = {volume.get("name") for volume in spec.get("volumes") or ()}
    claims = {claim.get("name") for claim in spec.get("resourceClaims") or ()}
    names: set[str] = set()
    for field in _CONTAINER_LISTS:
        for index, container in enumerate(spec.get(field) or ()):
            below = (*path, field, index)
            name = container.get("name")
            if name in names:
                yield Finding(
                    Fault.DUPLICATE, (*below, "name"), f"two containers are called `{name}`"
                )
            names.add(name)
            if name is not None and not DNS_LABEL.fullmatch(name):
                yield Finding(
                    Fault.BAD_VALUE, (*below, "name"), f"{shown(name)} is no name of a container"
                )
            yield from _image(container, below)
            yield from _mounts(container, volumes, below)
            yield from _resources(container.get("resources") or {}, claims, (*below, "resources"))
    yield from _volume_sources(spec, path)
    yield from _claim_twice(spec, path)


def _mounts(container: dict, volumes: set, path: Path) -> Iterator[Finding]:
    for index, mount in enumerate(container.get("volumeMounts") or ()):
        if mount.get("name") not in volumes:
            yield Finding(
                Fault.BAD_VALUE,
                (*path, "volumeMounts", index, "name"),
                f"no volume of the pod is called {shown(mount.get('name'))}",
                expected=", ".join(sorted(str(name) for name in volumes)),
            )


def _resources(resources: dict, claims: set, path: Path) -> Iterator[Finding]:
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    for name, asked in requests.items():
        # An extended resource cannot be overcommitted.
        extended = "/" in name or name.startswith("hugepages-")
        if extended and name in limits and str(limits[name]) != str(asked):
            yield Finding(
                Fault.BAD_VALUE,
                (*path, "requests", name),
                f"`{name}` needs the same request and limit",
                found=f"request {asked}, limit {limits[name]}",
            )
    for index, claim in enumerate(resources.get("claims") or ()):
        if claim.get("name") not in claims:
            yield Finding(
                Fault.BAD_VALUE,
                (*path, "claims", index, "name"),
                f"no resource claim of the pod is called {shown(claim.get('name'))}",
            )


def _volume_sources(spec: dict, path: Path) -> Iterator[Finding]:
    for index, volume in enumerate(spec.get("volumes") or ()):
        sources = [key for key, value in volume.items() if key != "name" and value is not None]
        if len(sources) > 1:
            yield Finding(
                Fault.BAD_VALUE,
                (*path, "volumes", index),
                f"volume `{volume.get('name')}` is of two kinds",
                found=", ".join(sorted(sources)),
                expected="one of them",
            )


def _claim_twice(spec: dict, path: Path) -> Iterator[Finding]:
    """Two volumes of one claim make the kubelet wait for ever."""
    seen: dict[str, str] = {}
    for index, volume in enumerate(spec.get("volumes") or ()):
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName")
        if claim is None:
            continue
        if claim in seen:
            yield Finding(
                Fault.DUPLICATE,
                (*path, "volumes", index),
                f"volumes `{seen[claim]}` and `{volume.get('name')}` are the same claim `{claim}`",
                hint="mount one volume in several places instead",
            )
        seen.setdefault(claim, str(volume.get("name")))


def _names(spec: dict, path: Path) -> Iterator[Finding]:
    for field in _OBJECT_NAMES:
        name = spec.get(field)
        if name and (not DNS_SUBDOMAIN.fullmatch(name) or len(name) > _LONGEST_NAME):
            yield Finding(
                Fault.BAD_VALUE,
                (*path, field),
                f"{shown(name)} cannot be the name that `{field}` wants",
                expected="lower-case letters, digits, `-` and `.`",
            )
    for key, value in (spec.get("nodeSelector") or {}).items():
        problem = _label_problem("kubernetes", key, value)
        if problem is not None:
            yield Finding(Fault.BAD_VALUE, (*path, "nodeSelector", key), problem)


def _image(container: dict, path: Path) -> Iterator[Finding]:
    image = container.get("image")
    if image is not None and not _IMAGE.fullmatch(image):
        yield Finding(
            Fault.BAD_VALUE,
            (*path, "image"),
            f"{shown(image)} is no name of an image",
            expected="[registry/]path[:tag][@digest], the path in lower case",
        )
