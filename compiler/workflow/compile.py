"""From works to rendered jobs: files digested, placed, lowered, emitted, verified."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

from compiler.diagnostics import Diagnostic, Diagnostics, Related, Severity
from compiler.diagnostics.codes import workflow as codes
from compiler.model import GitWorkdir, LocalWorkdir, Origin, Resources, Stack, TargetSpec, Task
from compiler.placement import Placement, Row, matching_targets, names_for, place
from compiler.placement.accelerators import names_of, resolve_accelerators
from compiler.planning import digests
from compiler.rendering.artifact import Artifact
from compiler.rendering.filetree import NATIVE_SCRIPT, FileTree, read_tree
from compiler.source import suggest
from compiler.targets.interface import Job
from compiler.targets.registry import target_of
from compiler.workflow.loading import Work
from compiler.workflow.prices import hourly_price


@dataclass(frozen=True)
class Prepared:
    """A work ready to be placed: accelerators by canonical name, local files digested."""

    work: Work
    task: Task
    trees: tuple[FileTree, ...]
    spec: Mapping[str, str] = field(repr=False)

    @cached_property
    def spec_digest(self) -> str:
        return digests.spec_digest(self.spec)

    @cached_property
    def files_digest(self) -> str:
        return digests.files_digest(self.trees)


def prepare(work: Work, stack: Stack, diagnostics: Diagnostics) -> Prepared:
    """Resolve what needs no target: accelerator names and the files the task brings along."""
    task = resolve_accelerators(work.task, names_of(stack), diagnostics)
    trees = tuple(_trees(task, stack.root, diagnostics))
    # The digest is of what was written: canonical names are the catalogue's.
    resolved = work if task is work.task else replace(work, task=task)
    return Prepared(resolved, task, trees, digests.spec_fields(work.task))


def place_work(
    prepared: Prepared,
    stack: Stack,
    diagnostics: Diagnostics,
    *,
    free: Mapping[str, Mapping[str, int]] | None = None,
    recorded: str | None = None,
    only: Sequence[str] = (),
) -> Placement:
    """Choose the target; an impossible placement is an error with every row's reason.

    `only` restricts the stack to some of its targets. A task that may go to none of them but
    to others is left out with a note: nothing is chosen.
    """
    some = _only(stack, tuple(only)) if only else stack
    placement = place(
        prepared.task,
        some,
        refuse=lambda task, resources, spec: target_of(spec.kind).refusals(task, resources, spec),
        price=lambda resources, spec: hourly_price(resources, spec, stack, prepared.task.num_nodes),
        free=free or {},
        recorded=recorded,
    )
    diagnostics.extend(_unmatched(prepared, stack))
    if placement.chosen is None:
        diagnostics.extend(_why_nowhere(prepared, placement, stack, only))
    return placement


@lru_cache(maxsize=8)
def _only(stack: Stack, keys: tuple[str, ...]) -> Stack:
    return replace(stack, targets={key: stack.targets[key] for key in stack.targets if key in keys})


def possible_rows(placement: Placement) -> Iterable[Row]:
    """The best row of each target that can take the work (for --every-target)."""
    seen: set[str] = set()
    for row in placement.rows:
        if row.is_possible and row.target.key not in seen:
            seen.add(row.target.key)
            yield row


def make_job(
    prepared: Prepared, stack: Stack, target: TargetSpec, resources: Resources, run: int
) -> Job:
    return Job(
        stack=stack,
        target=target,
        task=prepared.task,
        work=prepared.work.name,
        resources=resources,
        run=run,
        spec_digest=prepared.spec_digest,
        files_digest=prepared.files_digest,
        trees=prepared.trees,
        group=prepared.work.group,
    )


def render_job(job: Job, diagnostics: Diagnostics) -> tuple[Artifact, ...]:
    """The job's artifacts, each checked for what it is."""
    target = target_of(job.target.kind)
    artifacts = target.render(job, diagnostics)
    for artifact in artifacts:
        diagnostics.extend(target.verify(artifact, job.target))
    return artifacts


def render_project(
    stack: Stack, spec: TargetSpec, diagnostics: Diagnostics
) -> tuple[Artifact, ...]:
    """What belongs to a target as a whole (a Pulumi project), whatever works are placed on it."""
    target = target_of(spec.kind)
    artifacts = target.project(stack, spec)
    for artifact in artifacts:
        diagnostics.extend(target.verify(artifact, spec))
    return artifacts


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


def _unmatched(prepared: Prepared, stack: Stack) -> Iterable[Diagnostic]:
    """Candidates whose `infra` is nothing of the stack: an error where it is all of them."""
    candidates = prepared.task.resources.candidates
    lost = [item for item in candidates if not matching_targets(item.infra, stack)]
    for candidate in lost:
        infra = candidate.infra
        close = suggest(infra.region or infra.cloud or "", names_for(infra, stack))
        yield codes.INFRA_NOT_IN_STACK.at(
            candidate.origin_of("infra").span(),
            f"`{infra}` is no target of stack `{stack.name}`",
            expected=", ".join(f"{spec.kind}/{key}" for key, spec in stack.targets.items()),
            hint=f"did you mean `{close}`?" if close else None,
            severity=Severity.ERROR if len(lost) == len(candidates) else Severity.WARNING,
        )


def _why_nowhere(
    prepared: Prepared, placement: Placement, stack: Stack, only: Sequence[str]
) -> Iterable[Diagnostic]:
    if not placement.rows:
        candidates = prepared.task.resources.candidates
        elsewhere = dict.fromkeys(
            spec.key for item in candidates for spec in matching_targets(item.infra, stack)
        )
        if only and elsewhere:
            yield codes.LEFT_OUT.at(
                prepared.task.resources.origin.span(),
                f"`{prepared.work.name}` may go to {', '.join(elsewhere)}, "
                f"and not to {', '.join(only)}: left out",
            )
        return
    refusals = list(dict.fromkeys(item for row in placement.rows for item in row.refusals))
    if len({row.target.key for row in placement.rows}) == 1:
        yield from refusals
        return
    yield codes.NO_TARGET.at(
        prepared.task.resources.origin.span(),
        f"no target of stack `{stack.name}` can take `{prepared.work.name}`",
        related=[
            Related(f"{item.target or 'target'}: {item.message} [{item.code}]", item.span)
            for item in refusals
            if item.severity is Severity.ERROR
        ],
    )
