"""Rendering a work again with one input changed, to see which lines it makes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from compiler import model
from compiler.diagnostics import Diagnostics, Span, TriplaneError
from compiler.model import Group, Pipeline, Stack, Task, Volume
from compiler.placement.accelerators import names_of, resolve_accelerators
from compiler.planning import digests
from compiler.planning.provenance import Leaf, leaves
from compiler.rendering.artifact import Artifact
from compiler.source import Document
from compiler.targets.interface import Job, JoinedGroup
from compiler.targets.registry import target_of
from compiler.workflow import compile as compiling
from compiler.workflow.loading import find_devices
from compiler.workflow.prepare import Prepared
from compiler.workflow.works import Work

# What of a stack never shows in what is rendered for a target.
_NOT_RENDERED = frozenset({"policy", "pricing", "out", "root", "requester_env", "gitops"})


@dataclass(frozen=True, slots=True)
class Rendered:
    """One work as it is rendered: texts by path, and the labels that its paths carry; `spec`
    are the digests of its parts."""

    job: Job
    artifacts: tuple[Artifact, ...]
    spec: Mapping[str, str]

    @property
    def texts(self) -> dict[str, str]:
        return {item.path: item.text for item in self.artifacts}

    @property
    def labels(self) -> tuple[str, ...]:
        members = (member.name for member in self.job.members)
        return (self.job.name, *members)


@dataclass(frozen=True, slots=True)
class Tracer:
    """One work on one target, for as many questions as there are.

    `keep_digests` leaves the digests of the work as they are, so that a line that only shows
    one of them is nobody's; `joins` is the running group that the work joins.
    """

    prepared: Prepared
    stack: Stack
    target: str
    run: int
    environ: Mapping[str, str]
    keep_digests: bool = True
    joins: JoinedGroup | None = None

    def as_it_is(self) -> Rendered | None:
        return self._rendered(self.prepared, self.stack)

    def documents(self) -> Iterator[Document]:
        """The documents of the work, each once: its header and its tasks."""
        work = self.prepared.work
        origins = (work.origin, *(task.origin for task in work.tasks))
        yield from dict.fromkeys(origin.document for origin in origins)

    def with_document(self, old: Document, new: Document) -> Rendered | None:
        """The work rendered with one of its documents changed; None where that is wrong."""
        work = _rebuilt(self.prepared.work, old, new, self.stack, self.environ)
        if work is None:
            return None
        prepared = self._prepared(work)
        return None if prepared is None else self._rendered(prepared, self.stack)

    def with_stack(self, document: Document) -> Rendered | None:
        """The work rendered for a changed stack; None where that is wrong."""
        said = Diagnostics()
        stack = model.build_stack(document, said)
        if stack is None or said.has_errors or self.target not in stack.targets:
            return None
        # The base that a plan or the current folder gave stays.
        root = stack.root and self.stack.root
        return self._rendered(self.prepared, replace(stack, root=root))

    def with_job(self, change: Callable[[Job], Job]) -> Rendered | None:
        """The work rendered after a change of what no document says: its run, its digests."""
        return self._rendered(self.prepared, self.stack, change)

    def _prepared(self, work: Work) -> Prepared | None:
        """The changed work with the files that the work has; only its texts were changed."""
        said = Diagnostics()
        kept = self.prepared.members
        if work.volume is not None:
            member = replace(kept[0], task=model.volume_task(work.volume))
            if not self.keep_digests:
                member = replace(member, spec=digests.volume_fields(work.volume))
            return Prepared(work, (member,), member.spec)
        if len(work.tasks) != len(kept):
            return None
        members = []
        for member, name, job, task in zip(
            kept, work.member_names(), work.job_names(), work.tasks, strict=True
        ):
            resolved = resolve_accelerators(task, names_of(self.stack), said)
            spec = member.spec if self.keep_digests else digests.spec_fields(task)
            members.append(replace(member, name=name, job=job, task=resolved, spec=spec))
        if said.has_errors:
            return None
        spec = self.prepared.spec
        if not self.keep_digests:
            spec = members[0].spec
            if work.whole is not None:
                of_members = {member.name: member.spec for member in members}
                spec = digests.whole_fields(work.whole, of_members)
        return Prepared(work, tuple(members), spec)

    def _rendered(
        self, prepared: Prepared, stack: Stack, change: Callable[[Job], Job] = lambda job: job
    ) -> Rendered | None:
        said = Diagnostics()
        try:
            # What was rendered is there, whatever the policy says of it.
            allowing = replace(stack, policy={}, requester=self.stack.requester)
            placement = compiling.place_work(
                prepared, allowing, said, only=(self.target,), recorded=self.target
            )
            if placement.chosen is None:
                return None
            job = change(
                compiling.make_job(prepared, stack, placement.chosen, self.run, self.joins)
            )
            artifacts = target_of(job.target.kind).render(job, said)
        except TriplaneError:
            return None
        return None if said.has_errors else Rendered(job, artifacts, prepared.spec)


def stack_leaves(stack: Stack, target: str) -> Iterator[Leaf]:
    """The values of a stack that can show in what is rendered for one target."""
    for leaf in leaves(stack.origin.document.data):
        head, *rest = leaf.path
        if head in _NOT_RENDERED or leaf.path == ("set", "inputs"):
            continue
        if head == "targets" and rest[:1] != [target]:
            continue
        yield leaf


def alternatives_of(document: Document, leaf: Leaf) -> Iterator[Document]:
    """The document with another value in the leaf's place, and at last without it."""
    span = document.span(leaf.path)
    for value in leaf.alternatives:
        yield document.overlaid(leaf.path, value, span)
    for end in range(len(leaf.path), 0, -1):
        if isinstance(leaf.path[end - 1], str):
            yield document.without(leaf.path[:end])
            return


def place_of_leaf(document: Document, leaf: Leaf, line: int | None = None) -> Span:
    """Where the value is written; of a block of text, the line `line` (from 0) of it."""
    span = document.span(leaf.path)
    if line is None or not leaf.lines or span.end_line - span.line + 1 < len(leaf.lines):
        return span
    return Span.of_whole_line(span.source, span.line + line)


def _rebuilt(
    work: Work, old: Document, new: Document, stack: Stack, environ: Mapping[str, str]
) -> Work | None:
    """The same work with `new` in the place of one of its documents."""
    said = Diagnostics()
    options: dict[str, Any] = {"environ": environ, "root": stack.root, "lookup": find_devices}

    def swapped(document: Document) -> Document:
        return new if document is old else document

    found: Task | Group | Pipeline | Volume | None
    documents: Sequence[Document] = [swapped(task.origin.document) for task in work.tasks]
    header = swapped(work.origin.document)
    if work.volume is not None:
        found = model.build_volume(header, said)
    elif work.task is not None:
        found = model.build_task(header, said, **options)
    elif work.group is not None:
        found = model.build_group(header, documents, said, **options)
    else:
        own_header = None if header in documents else header
        found = model.build_pipeline(own_header, documents, said, **options)
    if found is None or said.has_errors:
        return None
    return replace(
        work,
        name=found.name or work.name,
        task=found if isinstance(found, Task) else None,
        group=found if isinstance(found, Group) else None,
        pipeline=found if isinstance(found, Pipeline) else None,
        volume=found if isinstance(found, Volume) else None,
    )
