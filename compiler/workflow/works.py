"""Work: what an apply starts or keeps as one, under the name that it has in its set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler.diagnostics import Diagnostic, Diagnostics, Related
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Group, Origin, Pipeline, Task, Volume, names

Document = Task | Group | Pipeline | Volume


@dataclass(frozen=True, slots=True)
class Work:
    """Exactly one of a task, a group, a pipeline and a volume.

    A group or a pipeline is one work: one run number, one record, one outcome. `joins` is the
    name of the running group that the task joins.
    """

    name: str
    task: Task | None = None
    group: Group | None = None
    pipeline: Pipeline | None = None
    volume: Volume | None = None
    joins: str | None = None

    @property
    def document(self) -> Document:
        """What the work was made of."""
        found = self.task or self.group or self.pipeline or self.volume
        assert found is not None
        return found

    @property
    def whole(self) -> Group | Pipeline | None:
        """The group or the pipeline, None for what has no members."""
        return self.group or self.pipeline

    @property
    def tasks(self) -> tuple[Task, ...]:
        """All tasks in order; none for a volume."""
        if self.whole is not None:
            return self.whole.tasks
        return () if self.task is None else (self.task,)

    @property
    def origin(self) -> Origin:
        return self.document.origin

    @property
    def called(self) -> str:
        """The kind of work in words."""
        if self.group is not None:
            return "job group"
        if self.pipeline is not None:
            return "pipeline"
        return "task" if self.volume is None else "volume"

    def member_names(self) -> tuple[str, ...]:
        """The tasks' names within the whole; a task of a pipeline that was given none has its
        number."""
        if self.whole is None:
            return (self.name,) * len(self.tasks)
        return tuple(
            task.name if task.name and (self.group or "name" in task.given) else str(index)
            for index, task in enumerate(self.tasks)
        )

    def job_names(self) -> tuple[str, ...]:
        """The name of each task's job: `<whole>-<task>` in a group or a pipeline."""
        if self.whole is None:
            return self.member_names()
        return tuple(f"{self.name}-{member}" for member in self.member_names())


def named(documents: Iterable[Document], diagnostics: Diagnostics) -> tuple[Work, ...]:
    """Works under their names, which are unique over all kinds; one without a name takes its
    file's."""
    by_name: dict[str, Work] = {}
    for document in documents:
        work = _work(document)
        first = by_name.setdefault(work.name, work)
        if first is not work:
            diagnostics.add(
                codes.WORK_NAME_COLLISION.at(
                    work.origin.span("name"),
                    f"a second {work.called} is called `{work.name}`"
                    if work.called == first.called
                    else f"a {work.called} and a {first.called} are both called `{work.name}`",
                    hint="give one of them another `name:`",
                    related=[Related("the first one", first.origin.span("name"))],
                )
            )
    return tuple(by_name.values())


def collisions(works: Sequence[Work], set_name: str) -> Iterator[Diagnostic]:
    """Works of different names, or tasks in them, that are the same to a platform."""
    by_label: dict[str, tuple[str, Origin]] = {}
    for work in works:
        places = [(work.name, work.origin)]
        if work.whole is not None:
            places += zip(work.job_names(), (task.origin for task in work.tasks), strict=True)
        for name, origin in places:
            label = names.work_label(set_name, name)
            first, where = by_label.setdefault(label, (name, origin))
            if where is not origin:
                yield codes.WORK_NAME_COLLISION.at(
                    origin.span("name"),
                    f"objects of `{name}` and `{first}` would both be called `{label}`",
                    hint="give one of them another `name:`",
                    related=[Related("the first one", where.span("name"))],
                )


def _work(document: Document) -> Work:
    name = document.name or _name_from_file(document.origin)
    match document:
        case Task():
            return Work(name, task=document)
        case Group():
            return Work(name, group=document)
        case Pipeline():
            return Work(name, pipeline=document)
        case Volume():
            return Work(name, volume=document)


def _name_from_file(origin: Origin) -> str:
    path = Path(origin.document.source.path)
    stem = path.stem if path.suffix in (".yaml", ".yml") else path.name
    if stem in ("task", "sky") and path.parent.name:
        stem = path.parent.name
    cleaned = "".join(char if char.isalnum() else "-" for char in stem).strip("-")
    return cleaned or "task"
