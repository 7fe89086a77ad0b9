"""`triplane why FILE:LINE`: which YAML, and which rule, made a line of a rendered file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from compiler.diagnostics import Diagnostics, WrongUsage
from compiler.model import Overrides, Stack, TargetKind, names
from compiler.planning.provenance import Line
from compiler.source.special import special_kind
from compiler.workflow import compile as compiling
from compiler.workflow.arguments import with_values
from compiler.workflow.prepare import prepare
from compiler.workflow.provenance import project_line, trace
from compiler.workflow.rendering import load_tasks
from compiler.workflow.tracing import Tracer
from compiler.workflow.works import Work

_NUMBER = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Why:
    """The answer for one line of one file.

    `path` is the artifact's path in the rendered tree, `work` the work's name (empty for a
    target's own files), `text` the line, `note` what should be known of the answer.
    """

    file: str
    line: int
    path: str
    work: str
    target: str
    text: str
    origin: Line
    note: str = ""


def why(
    place: str,
    stack: Stack,
    paths: Sequence[str] = (),
    *,
    overrides: Overrides | None = None,
    environ: Mapping[str, str] | None = None,
) -> Why:
    """Trace `FILE:LINE` of a rendered tree back; the works are at `paths`, else the stack's.

    Raise WrongUsage for a place that is none, or a file that no work of these renders, and
    InvalidInput where the input is wrong.
    """
    file, number = _place(place)
    lines = _read(file)
    if not 1 <= number <= len(lines):
        raise WrongUsage(f"{file} has {len(lines)} lines, and no line {number}")
    kind, key, tail = _in_tree(file, stack)
    diagnostics = Diagnostics()
    loaded = load_tasks(
        paths, stack, diagnostics, overrides=with_values(overrides, environ), environ=environ
    )
    diagnostics.raise_if_errors()
    path = f"{kind}/{key}/{tail}"
    shown = lines[number - 1]
    for work, run in _owners(loaded.works, stack, tail):
        prepared = prepare(work, stack, diagnostics, loaded.known_volumes)
        tracer = Tracer(prepared, stack, key, run, environ or {})
        base = tracer.as_it_is()
        if base is None or path not in base.texts:
            continue
        at, note = _same_line(base.texts[path].splitlines(), number, shown)
        origin = trace(tracer)[path][at]
        return Why(file, number, path, work.name, key, shown, origin, note)
    spec = stack.targets[key]
    project = {item.path: item for item in compiling.render_project(stack, spec, diagnostics)}
    if path in project:
        text = project[path].text
        at, note = _same_line(text.splitlines(), number, shown)
        return Why(file, number, path, "", key, shown, project_line(spec, text, at), note)
    raise WrongUsage(f"{file}: no task of these inputs renders {path}")


def _place(place: str) -> tuple[str, int]:
    file, colon, number = place.rpartition(":")
    if not colon or not file or not number.isdecimal():
        raise WrongUsage(f"{place!r} is no FILE:LINE, as in rendered/kubernetes/eks/x/job.yaml:12")
    return file, int(number)


def _read(file: str) -> list[str]:
    try:
        if (kind := special_kind(file)) is not None:
            raise WrongUsage(f"{file}: {kind}, and no file")
        return Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "is no text"
        raise WrongUsage(f"{file}: {reason}") from None


def _in_tree(file: str, stack: Stack) -> tuple[str, str, str]:
    """(kind, target key, rest of the path), as every rendered tree is laid out."""
    parts = PurePosixPath(Path(file).absolute().as_posix()).parts
    for at in range(len(parts) - 2, 0, -1):
        spec = stack.targets.get(parts[at])
        if spec is not None and parts[at - 1] == spec.kind and parts[at - 1] in set(TargetKind):
            return parts[at - 1], parts[at], "/".join(parts[at + 1 :])
    raise WrongUsage(
        f"{file} lies in no rendered tree of stack `{stack.name}`: its path would have "
        f"{', '.join(f'{spec.kind}/{key}/' for key, spec in stack.targets.items())}"
    )


def _owners(works: Sequence[Work], stack: Stack, tail: str) -> Iterator[tuple[Work, int]]:
    """The works that a path can be of, by the labels in it, with the run that it names."""
    text = tail.replace("_", "-")
    numbers = sorted({int(number) for number in _NUMBER.findall(text)}, reverse=True)
    found: list[tuple[int, Work, int]] = []
    for work in works:
        for name in (work.name, *work.job_names()):
            label = names.work_label(stack.set_name, name)
            if label not in text:
                continue
            run = next((item for item in numbers if f"{label}-{item}" in text), 1)
            found.append((len(label), work, run))
    for _, work, run in sorted(found, key=lambda item: -item[0]):
        yield work, run


def _same_line(lines: Sequence[str], number: int, shown: str) -> tuple[int, str]:
    """The line of today's rendering that the file's line is, and a note where it has moved."""
    if number <= len(lines) and lines[number - 1] == shown:
        return number, ""
    same = [at for at, line in enumerate(lines, start=1) if line == shown]
    if same:
        nearest = min(same, key=lambda at: abs(at - number))
        return nearest, f"the file is not what the input renders now: there it is line {nearest}"
    at = min(number, len(lines))
    return at, "the file is not what the input renders now, and has no such line any more"
