"""Containers on Slurm without Pyxis: each rank is started by Apptainer."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.model import Resources, TargetSpec, Task
from compiler.rendering.quoting import sh
from compiler.targets.slurm.containers import mounts_of
from compiler.targets.slurm.settings import Settings

_IMAGE_FILES = (".sif", ".sqsh")


@dataclass(frozen=True, slots=True)
class Apptainer:
    """`image` as Apptainer names it, `gpus` the option that brings the host's driver in (or
    empty), `binds` shell words of mounts with quoted commas between them, `points` (source,
    destination), as shell words, of those below the home."""

    image: str
    gpus: str
    binds: str
    points: tuple[tuple[str, str], ...]


def apptainer_of(
    task: Task, resources: Resources, target: TargetSpec, settings: Settings
) -> Apptainer | None:
    """None where the task has no image, or the stack another way to run it. Raise ValueError for
    a path that cannot be mounted."""
    image = resources.image.docker if resources.image else None
    if not image or target.options.get("containers") != "apptainer":
        return None
    image = image.removeprefix("docker:")
    accelerator = resources.accelerator.name if resources.accelerator else ""
    gpus = "" if not accelerator else "--rocm" if accelerator.startswith("MI") else "--nv"
    mounts = mounts_of(task, settings)
    return Apptainer(
        image=image if image.endswith(_IMAGE_FILES) else f"docker://{image}",
        gpus=gpus,
        binds='","'.join(
            f"{sh(source)}:{_destination(path)}" + ":ro" * (mode == "ro")
            for source, path, mode in mounts
        ),
        points=tuple(
            (sh(source), _destination(path)) for source, path, _ in mounts if _is_in_home(path)
        ),
    )


def _is_in_home(path: str) -> bool:
    return path == "~" or path.startswith("~/")


def _destination(path: str) -> str:
    """The home inside is the run's own, which only the cluster knows."""
    if not _is_in_home(path):
        return sh(path)
    return f'"$WORK/home"{sh(path[1:]) if path[1:] else ""}'
