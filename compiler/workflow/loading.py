"""From paths to works: read, check, build the model. All errors of all files at once."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from compiler import model, source
from compiler.diagnostics import Diagnostics, Related, Span
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Group, Overrides, Pipeline, Stack, Task, Volume
from compiler.source import Kind, Unit
from compiler.source.reading import shown_path
from compiler.workflow.secret_flags import secrets_by_unit


@dataclass(frozen=True, slots=True)
class Work:
    """A task with the name that it has in its set."""

    name: str
    task: Task
    group: Group | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """What the paths hold; `inputs` maps the files read to the sha256 of their text."""

    works: tuple[Work, ...] = ()
    groups: tuple[Group, ...] = ()
    pipelines: tuple[Pipeline, ...] = ()
    volumes: tuple[Volume, ...] = ()
    stacks: tuple[Stack, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)


def load(
    paths: Sequence[str],
    diagnostics: Diagnostics,
    *,
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
    root: str | None = None,
    check_files: bool = True,
) -> Loaded:
    """Everything at `paths` (files, folders, `-`); what is wrong goes to `diagnostics`.

    `root` is where the tasks' relative paths start (None: the current folder). Documents
    with errors are left out of the result.
    """
    overrides = overrides or Overrides()
    builder = _Builder(diagnostics, overrides, environ or {}, root, check_files)
    inputs: dict[str, str] = {}
    units = source.read_units(paths, diagnostics)
    given = secrets_by_unit(units, overrides, complete=not diagnostics.has_errors)
    for unit, pairs in zip(units, given, strict=True):
        builder.options["overrides"] = replace(overrides, secret=pairs)
        text = unit.source.text
        inputs[unit.source.path] = hashlib.sha256(text.encode()).hexdigest()
        builder.add(unit)
    works = _named(builder.tasks, diagnostics)
    return Loaded(
        works=works,
        groups=tuple(builder.groups),
        pipelines=tuple(builder.pipelines),
        volumes=tuple(builder.volumes),
        stacks=tuple(builder.stacks),
        inputs=inputs,
    )


def load_stack(path: str, diagnostics: Diagnostics) -> Stack | None:
    """The stack at `path`, or None with the reasons in `diagnostics`."""
    if Path(path).is_dir():
        shown = shown_path(path)
        diagnostics.add(
            codes.NOT_A_STACK.at(None, f"`{shown}` is a folder", hint="name the stack file in it")
        )
        return None
    units = source.read_units([path], diagnostics)
    for unit in units:
        if unit.kind is Kind.STACK:
            return model.build_stack(unit.documents[0], diagnostics)
        diagnostics.add(
            codes.NOT_A_STACK.at(
                Span.of_whole_line(unit.source, 1),
                f"this is a {unit.kind}, and no stack",
                expected="a document with `set:` and `targets:`",
            )
        )
    return None


class _Builder:
    """Builds the model of one unit after the other and sorts the results by kind."""

    def __init__(self, diagnostics, overrides, environ, root, check_files) -> None:
        self.diagnostics: Diagnostics = diagnostics
        self.options = {
            "overrides": overrides,
            "environ": environ,
            "root": root,
            "check_files": check_files,
            "lookup": _devices,
        }
        self.tasks: list[Task] = []
        self.groups: list[Group] = []
        self.pipelines: list[Pipeline] = []
        self.volumes: list[Volume] = []
        self.stacks: list[Stack] = []

    def add(self, unit: Unit) -> None:
        if unit.kind is Kind.STACK:
            _keep(self.stacks, model.build_stack(unit.documents[0], self.diagnostics))
        elif unit.kind is Kind.VOLUME:
            for document in unit.documents:
                _keep(self.volumes, model.build_volume(document, self.diagnostics))
        elif unit.kind is Kind.TASK:
            document = unit.documents[0]
            _keep(self.tasks, model.build_task(document, self.diagnostics, **self.options))
        elif unit.kind is Kind.GROUP:
            group = model.build_group(unit.header, unit.documents, self.diagnostics, **self.options)
            _keep(self.groups, group)
        else:
            pipeline = model.build_pipeline(
                unit.header, unit.documents, self.diagnostics, **self.options
            )
            _keep(self.pipelines, pipeline)


def _keep(kept: list, built: object) -> None:
    if built is not None:
        kept.append(built)


def _devices(gib: float, at_least: bool, maker: str | None) -> Sequence[str]:
    """Names of the devices with that much memory, as the model asks for them."""
    from compiler.catalog import by_memory

    return by_memory(f"{gib:g}GB{'+' * at_least}", maker) or ()


def _named(tasks: Sequence[Task], diagnostics: Diagnostics) -> tuple[Work, ...]:
    """Tasks under their names; one without a name takes its file's."""
    by_name: dict[str, Task] = {}
    works = []
    for task in tasks:
        name = task.name or _name_from_file(task)
        first = by_name.setdefault(name, task)
        if first is not task:
            diagnostics.add(
                codes.WORK_NAME_COLLISION.at(
                    task.origin.span("name"),
                    f"a second task is called `{name}`",
                    hint="give one of them another `name:`",
                    related=[Related("the first one", first.origin.span("name"))],
                )
            )
            continue
        works.append(Work(name, task))
    return tuple(works)


def _name_from_file(task: Task) -> str:
    path = Path(task.origin.document.source.path)
    stem = path.stem if path.suffix in (".yaml", ".yml") else path.name
    if stem in ("task", "sky") and path.parent.name:
        stem = path.parent.name
    cleaned = "".join(char if char.isalnum() else "-" for char in stem).strip("-")
    return cleaned or "task"
