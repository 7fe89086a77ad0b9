"""Where the files that a task brings along, and its host paths, appear for the ranks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.rendering.quoting import sh, shdq
from compiler.targets.interface import Job
from compiler.targets.slurm.paths import WORKDIR, below_home

_WORKDIR = WORKDIR.removeprefix("~/")


@dataclass(frozen=True, slots=True)
class Copy:
    """A stored tree and where the batch script copies it; `kind` is folder or file."""

    digest: str
    kind: str
    destination: str


@dataclass(frozen=True, slots=True)
class Repository:
    url: str
    ref: str | None


def copies(job: Job) -> tuple[Copy, ...]:
    """In the order of mounting: the working directory first. Destinations are shell words."""
    found = []
    for index, tree in enumerate(job.trees):
        if tree.local is None:
            continue
        inner = below_home(tree.destination)
        place = f"files/{index}" if inner is None else f"home/{inner}"
        kind = "file" if set(tree.files) == {""} else "folder"
        found.append(Copy(tree.digest, kind, f'"$WORK/{shdq(place)}"'))
    return tuple(found)


def repository(job: Job) -> Repository | None:
    """The git working directory. Raise ValueError for what git would take for an option."""
    for tree in job.trees:
        if tree.git_url is not None:
            if tree.git_ref is not None and tree.git_ref.startswith("-"):
                raise ValueError(f"`{tree.git_ref}` cannot be a git ref")
            return Repository(tree.git_url, tree.git_ref)
    return None


def links_text(job: Job, *, other_home: bool, mounted: bool) -> str | None:
    """`links.sh`: what has to be linked on every node, None where nothing has to.

    `other_home`: the ranks' home is not the run's; `mounted`: host paths are mounts of a container.
    """
    links = _links(job, other_home, mounted)
    lines = [f"link {target} {path} || return 1\n" for target, path in links]
    return "".join(lines) or None


def _links(job: Job, other_home: bool, mounted: bool) -> Iterator[tuple[str, str]]:
    """(target, path) as shell words, for the launcher's shell."""
    if other_home:
        yield _in_home(_WORKDIR)
    for index, tree in enumerate(job.trees):
        inner = below_home(tree.destination)
        if tree.local is not None and inner is None:
            yield f'"$WORK_FOLDER/files/{index}"', sh(tree.destination)
        elif other_home and inner is not None and not f"{inner}/".startswith(f"{_WORKDIR}/"):
            yield _in_home(inner)
    if mounted:
        return
    for volume in job.task.volumes:
        if volume.host_path is not None and volume.host_path != volume.path:
            inner = below_home(volume.path)
            path = sh(volume.path) if inner is None else f'"$HOME/{shdq(inner)}"'
            yield sh(volume.host_path), path


def _in_home(inner: str) -> tuple[str, str]:
    return f'"$WORK_FOLDER/home/{shdq(inner)}"', f'"$HOME/{shdq(inner)}"'
