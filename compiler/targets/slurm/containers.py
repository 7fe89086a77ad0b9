"""Containers on Slurm: the options that Pyxis gives to srun."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from compiler.model import Resources, TargetSpec, Task
from compiler.targets.slurm.settings import Settings

_CONTAINER_HOME = "/root"
_PATH = re.compile(r"[^:,\n]+")


@dataclass(frozen=True, slots=True)
class Container:
    """`mounts` and `env` as the options' values take them, comma-separated."""

    image: str
    mounts: str
    env: str


def container_of(
    task: Task, resources: Resources, target: TargetSpec, settings: Settings
) -> Container | None:
    """None where the task has no image. Raise ValueError for a path that cannot be mounted."""
    image = resources.image.docker if resources.image else None
    if not image or target.options.get("containers") != "pyxis":
        return None
    return Container(
        image=pyxis_image(image),
        mounts=",".join(_mount(*mount) for mount in mounts_of(task, settings)),
        # What the image sets would win over the environment of the job otherwise.
        env=",".join(sorted(task.secrets)),
    )


def pyxis_image(image: str) -> str:
    """`nvcr.io/nvidia/x:1` -> `nvcr.io#nvidia/x:1`; squashed images are paths, taken as such."""
    image = image.removeprefix("docker:")
    if image.endswith(".sqsh"):
        return image
    host, slash, rest = image.partition("/")
    is_registry = slash and ("." in host or ":" in host or host == "localhost")
    return f"{host}#{rest}" if is_registry else image


def mounts_of(task: Task, settings: Settings) -> list[tuple[str, str, str]]:
    """(source, path, mode) of each mount; the task's host paths win over configured mounts with
    the same destination. Raise ValueError for a path that cannot be mounted."""
    found: dict[str, tuple[str, str, str]] = {}
    for path, source in (settings.value("container_mounts") or {}).items():
        if isinstance(source, Mapping):
            found[path] = (str(source["host_path"]), path, str(source.get("mode", "ro")))
        else:
            found[path] = (str(source), path, "ro")
    for volume in task.volumes:
        if volume.host_path is not None:
            found[volume.path] = (volume.host_path, volume.path, volume.host_mode)
    for source, path, _ in found.values():
        for text in (source, path):
            if not _PATH.fullmatch(text):
                raise ValueError(f"`{text}` cannot be mounted: a `:` or `,` separates mounts")
    return list(found.values())


def _mount(source: str, path: str, mode: str) -> str:
    destination = _CONTAINER_HOME + path[1:] if path == "~" or path.startswith("~/") else path
    return f"{source}:{destination}" + ":ro" * (mode == "ro")
