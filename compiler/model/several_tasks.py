"""Files with several tasks: pipelines and groups."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from compiler.diagnostics import Diagnostics, Related
from compiler.diagnostics.codes import model_serving as codes
from compiler.model.build_task import build_task
from compiler.model.builder import Builder, combined
from compiler.model.names import DNS_LABEL_LIMIT, dns_label
from compiler.model.origin import Origin
from compiler.model.overrides import Overrides, apply_overrides
from compiler.model.task import Group, Pipeline, Task
from compiler.model.units import parse_seconds
from compiler.source import Document, check
from compiler.source.paths import Path
from compiler.source.suggestions import suggest
from compiler.source.wording import listed, quoted

GROUP_NAME_RULE = "letters, digits, `-` and `_`"

_group_name = re.compile(r"[A-Za-z0-9_-]+")
_DEFAULT_DELAY = "default"


def build_pipeline(
    header: Document | None, documents: Sequence[Document], diagnostics: Diagnostics, **options: Any
) -> Pipeline | None:
    """The tasks of `documents` in order; None where anything is wrong.

    `header` names the pipeline, and tasks without a name after it; it is None where the file
    has none. `options` are those of `build_task`, and hold for every task; a name among the
    overrides is the pipeline's.
    """
    name, is_sound = None, True
    given, options = _own_name(options)
    if header is not None:
        is_sound = check(header, "group", diagnostics)
        value = header.data.get("name")
        name = value if isinstance(value, str) else None
    name = given or name
    tasks = _tasks(documents, diagnostics, options)
    found = Diagnostics()
    _check_names(tasks, found, "pipeline")
    _check_services(tasks, found, "pipeline")
    _check_priorities(tasks, found)
    diagnostics.extend(found)
    if not is_sound or found.has_errors or len(tasks) < len(documents):
        return None
    if name:
        tasks = [replace(task, name=task.name or f"{name}-{at}") for at, task in enumerate(tasks)]
    origin = Origin(header) if header is not None else Origin(documents[0])
    return Pipeline(name, tuple(tasks), origin)


def build_group(
    header: Document, documents: Sequence[Document], diagnostics: Diagnostics, **options: Any
) -> Group | None:
    """The group of `header` with the tasks of `documents`; None where anything is wrong.

    `options` are as for a pipeline.
    """
    found = Diagnostics()
    given, options = _own_name(options)
    if given is not None:
        header = apply_overrides(header, Overrides(name=given), {})
    is_sound = check(header, "group", found)
    tasks = _tasks(documents, diagnostics, options)
    b = Builder(header, environ={})
    name = _group_name_of(b)
    _check_members(b, tasks)
    _check_names(tasks, b.diagnostics, "group")
    _check_services(tasks, b.diagnostics, "group")
    names = [_written_name(document) for document in documents]
    primary = _primary_tasks(b, names)
    delays = _termination_delay(b, names)
    connection = b.data.get("inter_connection")
    if connection is not None and not isinstance(connection, bool):
        b.unexpected(("inter_connection",), connection, "true or false")
    diagnostics.extend(combined(found, b.diagnostics))
    if not is_sound or b.diagnostics.has_errors or len(tasks) < len(documents):
        return None
    return Group(
        name,
        tuple(tasks),
        primary or tuple(task.name or "" for task in tasks),
        delays,
        connection if isinstance(connection, bool) else None,
        b.origin(),
    )


def _own_name(options: Mapping[str, Any]) -> tuple[str | None, dict[str, Any]]:
    """The name among the overrides, which is the whole's, and the options without it."""
    overrides = options.get("overrides")
    if overrides is None or overrides.name is None:
        return None, dict(options)
    return overrides.name, {**options, "overrides": replace(overrides, name=None)}


def _tasks(
    documents: Sequence[Document], diagnostics: Diagnostics, options: Mapping[str, Any]
) -> list[Task]:
    built = [build_task(document, diagnostics, **options) for document in documents]
    return [task for task in built if task is not None]


def _check_names(tasks: Sequence[Task], diagnostics: Diagnostics, kind: str) -> None:
    """Names are unique, also as the labels that objects are called by."""
    seen: dict[str, Task] = {}
    for task in tasks:
        if task.name is None:
            continue
        first = seen.setdefault(dns_label(task.name), task)
        if first is not task:
            same = first.name == task.name
            diagnostics.add(
                codes.TASK_NAMES_COLLIDE.at(
                    task.origin.span("name"),
                    f"a second task of the {kind} is called {quoted(task.name)}"
                    if same
                    else f"{quoted(task.name)} and {quoted(first.name or '')} give the same "
                    f"object name, {quoted(dns_label(task.name))}",
                    hint="give one of them another `name:`",
                    related=[Related("the first one", first.origin.span("name"))],
                )
            )


def _check_services(tasks: Sequence[Task], diagnostics: Diagnostics, kind: str) -> None:
    for task in tasks:
        if task.service is not None:
            diagnostics.add(
                codes.SERVICE_AMONG_TASKS.at(
                    task.origin.key_span("service"),
                    f"a task of a {kind} cannot be a service",
                    hint="put the service into a file of its own",
                )
            )


def _check_priorities(tasks: Sequence[Task], diagnostics: Diagnostics) -> None:
    """A pipeline waits in the queue as one, so its tasks have one priority."""
    for task in tasks[1:]:
        mine, first = (item.resources.candidates[0] for item in (task, tasks[0]))
        if (mine.priority or 0) != (first.priority or 0):
            diagnostics.add(
                codes.PRIORITIES_DIFFER.at(
                    mine.origin_of("priority").span(),
                    f"the tasks of a pipeline have one priority, here {mine.priority or 0} "
                    f"and {first.priority or 0}",
                    hint="give all tasks the same `priority`",
                    related=[Related("the first task's", first.origin_of("priority").span())],
                )
            )


def _written_name(document: Document) -> str | None:
    name = document.data.get("name")
    return name if isinstance(name, str) else None


def _group_name_of(b: Builder) -> str:
    path: Path = ("name",)
    name = b.text(path, b.data.get("name"))
    if not name or not _group_name.fullmatch(name):
        b.report(
            codes.GROUP_NAME,
            path,
            f"{quoted(name)} cannot be the name of a group" if name else "the group has no name",
            expected=GROUP_NAME_RULE + ": it is part of host names",
        )
    elif len(name) > DNS_LABEL_LIMIT:
        b.report(
            codes.GROUP_NAME_LENGTH,
            path,
            f"the group's name has {len(name)} characters",
            expected=f"at most {DNS_LABEL_LIMIT}, as one part of a host name",
        )
    return name or ""


def _check_members(b: Builder, tasks: Sequence[Task]) -> None:
    for task in tasks:
        origin = task.origin
        if task.name is None:
            b.diagnostics.add(
                codes.GROUP_TASK_NAME.at(
                    origin.key_span(),
                    "a task of a group has no name",
                    hint="add `name:`; the others reach it as `<name>-0.<group>`",
                )
            )
        elif not _group_name.fullmatch(task.name):
            b.diagnostics.add(
                codes.GROUP_TASK_NAME.at(
                    origin.span("name"),
                    f"{quoted(task.name)} cannot be the name of a task in a group",
                    expected=GROUP_NAME_RULE + ": it is part of host names",
                )
            )
        else:
            host = f"{task.name}-{task.num_nodes - 1}"
            if len(host) > DNS_LABEL_LIMIT:
                b.diagnostics.add(
                    codes.GROUP_NAME_LENGTH.at(
                        origin.span("name"),
                        f"the host name {quoted(host)} has {len(host)} characters",
                        expected=f"at most {DNS_LABEL_LIMIT}",
                    )
                )
        if task.pool is not None:
            b.diagnostics.add(
                codes.GROUP_POOL.at(
                    origin.key_span("pool"),
                    "a task of a group cannot be a pool",
                    hint="put the pool into a file of its own",
                )
            )


def _unknown_task(
    b: Builder, path: Path, name: str, names: Sequence[str | None], *, at_key: bool
) -> None:
    known = list(dict.fromkeys(item for item in names if item is not None))
    near = suggest(name, known)
    b.report(
        codes.GROUP_UNKNOWN_TASK,
        path,
        f"the group has no task {quoted(name)}",
        at_key=at_key,
        expected=listed(known) if known else None,
        hint=f"did you mean `{near}`?" if near else None,
    )


def _primary_tasks(b: Builder, names: Sequence[str | None]) -> tuple[str, ...]:
    path: Path = ("primary_tasks",)
    value = b.data.get("primary_tasks")
    if value is None:
        return ()
    if not isinstance(value, list):
        b.unexpected(path, value, "a list of task names")
        return ()
    found: dict[str, None] = {}
    for at, item in enumerate(value):
        name = b.text((*path, at), item)
        if name is None:
            continue
        if name not in names:
            _unknown_task(b, (*path, at), name, names, at_key=False)
        found[name] = None
    return tuple(found)


def _termination_delay(b: Builder, names: Sequence[str | None]) -> dict[str, int]:
    """Seconds by task, for every task where a delay is given."""
    path: Path = ("termination_delay",)
    value = b.data.get("termination_delay")
    if value is None:
        return {}
    if not isinstance(value, dict):
        seconds = _delay(b, path, value)
        return {} if seconds is None else {name: seconds for name in names if name}
    delays: dict[str, int] = {}
    for name, item in value.items():
        if name != _DEFAULT_DELAY and name not in names:
            _unknown_task(b, (*path, name), name, names, at_key=True)
        seconds = _delay(b, (*path, name), item)
        if seconds is not None:
            delays[name] = seconds
    rest = delays.pop(_DEFAULT_DELAY, 0)
    return {name: delays.get(name, rest) for name in names if name}


def _delay(b: Builder, path: Path, value: object) -> int | None:
    if isinstance(value, str):
        return b.parsed(codes.TERMINATION_DELAY, path, parse_seconds, value)
    return b.integer(path, value, least=0)
