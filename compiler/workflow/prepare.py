"""Works ready to be placed: accelerators by canonical name, local files digested."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from compiler.diagnostics import Diagnostic, Diagnostics, Related
from compiler.diagnostics.codes import workflow as codes
from compiler.model import (
    GitWorkdir,
    LocalWorkdir,
    Origin,
    Stack,
    Task,
    Volume,
    auto_mounted,
    mounted_volumes,
    volume_task,
)
from compiler.placement.accelerators import names_of, resolve_accelerators
from compiler.planning import digests
from compiler.rendering.filetree import NATIVE_SCRIPT, FileTree, read_tree
from compiler.workflow.works import Work


@dataclass(frozen=True)
class Member:
    """One task of a work. `name` is its name in the whole, `job` that of its job."""

    name: str
    job: str
    task: Task
    trees: tuple[FileTree, ...] = ()
    spec: Mapping[str, str] = field(default_factory=dict, repr=False)
    mounted: Mapping[str, Volume] = field(default_factory=dict, repr=False)

    @cached_property
    def spec_digest(self) -> str:
        return digests.spec_digest(self.spec)

    @cached_property
    def files_digest(self) -> str:
        return digests.files_digest(self.trees)


@dataclass(frozen=True)
class Prepared:
    """A work with its tasks; a volume has one empty task at the volume's place."""

    work: Work
    members: tuple[Member, ...]
    spec: Mapping[str, str] = field(repr=False)

    @property
    def task(self) -> Task:
        """The first task."""
        return self.members[0].task

    @property
    def origin(self) -> Origin:
        return self.work.origin

    @cached_property
    def trees(self) -> tuple[FileTree, ...]:
        """Everything that the work brings along, each content for each place once."""
        found = {
            (tree.digest, tree.local, tree.destination): tree
            for member in self.members
            for tree in member.trees
        }
        return tuple(found.values())

    @property
    def on_files_change(self) -> str | None:
        """`run` if any task says so."""
        said = [member.task.on_files_change for member in self.members]
        return "run" if "run" in said else next(filter(None, said), None)

    @cached_property
    def spec_digest(self) -> str:
        return digests.spec_digest(self.spec)

    @cached_property
    def files_digest(self) -> str:
        if self.work.whole is None:
            return self.members[0].files_digest
        return digests.combined_files({item.name: item.files_digest for item in self.members})


def prepare(
    work: Work, stack: Stack, diagnostics: Diagnostics, volumes: Mapping[str, Volume] | None = None
) -> Prepared:
    """Resolve what needs no target. `volumes` are those of the set, by name."""
    if work.volume is not None:
        task = volume_task(work.volume)
        spec = digests.volume_fields(work.volume)
        return Prepared(work, (Member(work.name, work.name, task, spec=spec),), spec)
    members = []
    for name, job, written in zip(work.member_names(), work.job_names(), work.tasks, strict=True):
        task = resolve_accelerators(written, names_of(stack), diagnostics)
        members.append(
            Member(
                name,
                job,
                task,
                tuple(_trees(task, stack.root, diagnostics)),
                # The digest is of what was written: canonical names are the catalogue's.
                digests.spec_fields(written),
                mounted_volumes(task, volumes or {}, auto_mounted(stack.config)),
            )
        )
    if work.whole is None:
        return Prepared(work, tuple(members), members[0].spec)
    for name in sorted({name for task in work.tasks for name in task.secrets}):
        diagnostics.extend(_two_values(name, work.tasks))
    of_members = {member.name: member.spec for member in members}
    return Prepared(work, tuple(members), digests.whole_fields(work.whole, of_members))


def with_variables(prepared: Prepared, changed: Mapping[str, str]) -> Prepared:
    """The same with more variables in each task's envs."""
    return replace(
        prepared,
        members=tuple(
            replace(item, task=replace(item.task, envs={**item.task.envs, **changed}))
            for item in prepared.members
        ),
    )


def _two_values(name: str, tasks: Sequence[Task]) -> Iterable[Diagnostic]:
    """A secret of one name is one secret of the work, whichever of its tasks uses it."""
    given = [
        task for task in tasks if name in task.secrets and task.secrets[name].value is not None
    ]
    for task in given[1:]:
        if task.secrets[name].value != given[0].secrets[name].value:
            yield codes.SECRET_VALUES_DIFFER.at(
                task.origin.key_span("secrets", name),
                f"secret `{name}` has another value in another task of this file",
                hint="give one of them another name",
                related=[Related("the other", given[0].origin.key_span("secrets", name))],
            )


def _trees(task: Task, root: str | None, diagnostics: Diagnostics) -> Iterable[FileTree]:
    wanted: list[tuple[str, str, Origin]] = []
    if isinstance(task.workdir, LocalWorkdir):
        wanted.append(("~/sky_workdir", task.workdir.path, task.workdir.origin))
    elif isinstance(task.workdir, GitWorkdir):
        git = task.workdir
        digest = digests.files_digest((FileTree(git.url, git.ref or ""),))
        yield FileTree("~/sky_workdir", digest, git_url=git.url, git_ref=git.ref)
    for mount in task.file_mounts:
        if "://" not in mount.source:
            wanted.append((mount.destination, mount.source, mount.origin))
    if task.native_script is not None:
        origin = task.origin.child("config", "triplane", "native_script")
        wanted.append((NATIVE_SCRIPT, task.native_script, origin))
    for destination, path, origin in wanted:
        local = Path(root or ".") / os.path.expanduser(path)  # noqa: PTH111 (a str, as written)
        try:
            yield read_tree(local, destination)
        except OSError as error:
            diagnostics.add(
                codes.TREE_UNREADABLE.at(
                    origin.span(),
                    f"`{path}` cannot be read: {error.strerror or error}",
                    found=str(local),
                    hint="the path is relative to the current folder unless the stack sets `root`",
                )
            )
