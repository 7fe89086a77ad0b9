"""The files that a task brings along: in a ConfigMap, or where they are too large by a clone, from
a bucket or from a volume."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import kubernetes as codes
from compiler.rendering.filetree import FileTree
from compiler.targets.interface import Job
from compiler.targets.kubernetes.archive import ARCHIVE_LIMIT, TooLarge, archive
from compiler.targets.kubernetes.committed import Committed, NotCommitted, committed
from compiler.targets.kubernetes.stored import Stored, repository_of, stored_at


@dataclass(frozen=True, slots=True)
class Brought:
    """`packed` is the data of the ConfigMap, base64 by key, `archives` the tree of each key;
    `folders` are what pods clone from `repository`, `stored` what an apply brings there first."""

    packed: Mapping[str, str] = field(default_factory=dict)
    archives: tuple[tuple[str, FileTree], ...] = ()
    folders: tuple[tuple[Committed, FileTree], ...] = ()
    repository: str = ""
    stored: tuple[Stored, ...] = ()


def brought_files(job: Job, diagnostics: Diagnostics) -> Brought:
    """All local trees of the job; the largest are got elsewhere until the rest alone fits."""
    left = [tree for tree in job.trees if tree.local is not None]
    folders: list[tuple[Committed, FileTree]] = []
    stored: list[Stored] = []
    repository = repository_of(job.target)
    try:
        while True:
            try:
                packed = _packed(left)
                break
            except TooLarge as error:
                largest = max(left, key=lambda tree: tree.size)
                if repository is not None:
                    folders.append((committed(largest), largest))
                elif place := stored_at(job.target, largest):
                    stored.append(place)
                else:
                    diagnostics.add(_too_large(job, error))
                    return Brought()
                left.remove(largest)
    except NotCommitted as problem:
        diagnostics.add(_not_committed(job, largest, str(problem)))
        return Brought()
    except OSError as error:
        diagnostics.add(
            codes.FILES_UNREADABLE.at(
                job.task.origin.span("workdir"),
                f"cannot read {error.filename or 'a file'}: {error.strerror or error}",
                target=job.target.key,
            )
        )
        return Brought()
    return Brought(
        packed,
        tuple(zip(packed, left, strict=True)),
        tuple(folders),
        repository or "",
        tuple(stored),
    )


def _packed(trees: list[FileTree]) -> dict[str, str]:
    packed: dict[str, str] = {}
    total = 0
    for index, tree in enumerate(trees):
        content = archive(tree)
        total += len(content)
        if total > ARCHIVE_LIMIT:
            raise TooLarge(total, compressed=True)
        packed[f"{index}.tar.gz"] = base64.b64encode(content).decode()
    return packed


def _too_large(job: Job, error: TooLarge) -> Diagnostic:
    key = "workdir" if job.task.workdir is not None else "file_mounts"
    size = f"{error.size // 1024} KiB" + " compressed" * error.compressed
    target = job.target.key
    where = "`{git: <repository>}`, from which pods clone what is committed"
    hint = f"set `files` of `{target}`: {where}, or a bucket or a volume, to which an apply uploads"
    if "files" in job.target.options:
        said = f"`deployer: {job.target.deployer}` uploads nothing"
        hint = f"{said}: set `files` of `{target}`: {where}"
    return codes.FILES_TOO_LARGE.at(
        job.task.origin.span(key),
        f"the files of the task are {size}, a ConfigMap holds {ARCHIVE_LIMIT // 1024} KiB",
        found=size,
        expected=f"at most {ARCHIVE_LIMIT // 1024} KiB compressed",
        hint=f"{hint}; or leave files out with `.skyignore`",
        target=target,
    )


def _not_committed(job: Job, tree: FileTree, problem: str) -> Diagnostic:
    key = "workdir" if tree.destination.rstrip("/") == "~/sky_workdir" else "file_mounts"
    return codes.FILES_NOT_COMMITTED.at(
        job.task.origin.span(key),
        f"pods would clone `{tree.destination}` from git, and it is not what a clone has: "
        f"{problem}",
        hint="commit and push it, or leave files out with `.skyignore`",
        target=job.target.key,
    )
