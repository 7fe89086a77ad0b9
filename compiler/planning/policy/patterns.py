"""Patterns of places and of images: `*` never reaches over the part that decides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

from compiler.model import Infra, TargetKind, TargetSpec
from compiler.placement.infra import KIND_OF_CLOUD, target_names

_DOCKER_HUB = "docker.io"


def place_matches(pattern: str, infra: Infra, target: TargetSpec) -> bool:
    """Whether a candidate on `target` lies within a pattern such as `slurm/alpha/gpu*`.

    A part that is left out or `*` stands for anything. On Kubernetes everything behind the
    kind is the cluster, as names of contexts have slashes.
    """
    kind, _, rest = pattern.partition("/")
    if kind != "*" and KIND_OF_CLOUD.get(kind.lower()) is not target.kind:
        return False
    place, zone = rest, ""
    if target.kind is not TargetKind.KUBERNETES:
        place, _, zone = rest.partition("/")
    if place not in ("", "*") and not any(
        fnmatchcase(name, place) for name in target_names(target)
    ):
        return False
    return zone in ("", "*") or (infra.zone is not None and fnmatchcase(infra.zone, zone))


def image_matches(pattern: str, image: str) -> bool:
    """Whether a container image fits; the registry of both is compared by itself."""
    if pattern == "*":
        return True
    host, rest = _qualified(pattern)
    image_host, image_rest = _qualified(image)
    return fnmatchcase(image_host, host) and fnmatchcase(image_rest, rest)


def registry_matches(pattern: str, image: str) -> bool:
    """Whether a container image comes from a registry that fits (`*.example.com`)."""
    return fnmatchcase(_qualified(image)[0], pattern.lower())


def field_pattern(pattern: str) -> re.Pattern[str]:
    """A dotted path of a field as an expression; `*` stands for one step."""
    steps = (r"[^.]+" if step == "*" else re.escape(step) for step in pattern.split("."))
    return re.compile(r"\.".join(steps))


def fields_of(value: object, path: tuple[str | int, ...] = ()) -> Iterable[tuple[str | int, ...]]:
    """The paths of all fields below a mapping or list, itself left out."""
    if isinstance(value, dict):
        steps: Iterable[tuple[str | int, object]] = (
            (str(key), item) for key, item in value.items()
        )
    elif isinstance(value, list | tuple):
        steps = enumerate(value)
    else:
        return
    for step, item in steps:
        yield (*path, step)
        yield from fields_of(item, (*path, step))


def _qualified(reference: str) -> tuple[str, str]:
    """(registry, rest) with what Docker leaves out: `ubuntu` is `docker.io/library/ubuntu`."""
    head, slash, rest = reference.partition("/")
    if slash and (head == "localhost" or any(char in head for char in ".:*")):
        return head.lower(), rest
    return _DOCKER_HUB, reference if slash else f"library/{reference}"
