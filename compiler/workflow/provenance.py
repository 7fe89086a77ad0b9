"""Where each line of a work's artifacts comes from: inputs, templates, catalogue, defaults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from compiler.model import TargetKind, TargetSpec
from compiler.planning.provenance import (
    Leaf,
    Line,
    Source,
    changed_lines,
    leaves,
    marked,
    marked_line,
    place_of,
)
from compiler.rendering.template_lines import template_lines
from compiler.source import Document
from compiler.targets.interface import Job
from compiler.workflow import places
from compiler.workflow.tracing import (
    Rendered,
    Tracer,
    alternatives_of,
    place_of_leaf,
    stack_leaves,
)

TEMPLATE_FOLDERS: Mapping[TargetKind, tuple[str, ...]] = {
    TargetKind.KUBERNETES: ("k8s", "common"),
    TargetKind.SLURM: ("slurm", "common"),
    TargetKind.AWS: ("aws", "common"),
}
_DIGESTS = "digest of the task, which names this version of the work"
_RUN = "number of the run"
_DEFAULT = "default of the {} target: nothing in the task or the stack says otherwise"
# What the catalogue looks up for a task, by the key of `resources` that asks for it.
_LOOKED_UP = frozenset({"accelerators", "instance_type", "cpus", "memory", "local_disk"})


@dataclass
class _Traces:
    """What was found so far, by path and number of the line."""

    sources: dict[tuple[str, int], dict[Source, None]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    rules: dict[tuple[str, int], dict[str, None]] = field(default_factory=lambda: defaultdict(dict))


def trace(tracer: Tracer) -> dict[str, dict[int, Line]]:
    """By path and number of the line (from 1), what made every line of the work's artifacts.

    Takes one rendering for each value of the task and the stack. An empty map where the work
    cannot be rendered as it is.
    """
    base = tracer.as_it_is()
    if base is None:
        return {}
    traces = _Traces()
    kinds = {document: str(document.kind) for document in tracer.documents()}
    for document in tracer.documents():
        for leaf in leaves(document.data):
            if leaf.path[0] != "secrets":
                _trace_leaf(tracer, base, document, leaf, kinds[document], traces)
    stack = tracer.stack.origin.document
    for leaf in stack_leaves(tracer.stack, tracer.target):
        for changed in alternatives_of(stack, leaf):
            other = tracer.with_stack(changed)
            if other is not None and _note(base, other, _source(tracer, stack, leaf), traces):
                break
    _trace_rules(tracer, base, traces)
    return _finished(tracer, base, traces)


def _trace_leaf(
    tracer: Tracer,
    base: Rendered,
    document: Document,
    leaf: Leaf,
    kind: str,
    traces: _Traces,
) -> None:
    if leaf.lines:
        other = tracer.with_document(
            document, document.overlaid(leaf.path, marked(leaf), document.span(leaf.path))
        )
        if other is not None and _note_text(tracer, base, other, document, leaf, kind, traces):
            return
    for changed in alternatives_of(document, leaf):
        other = tracer.with_document(document, changed)
        if other is not None and _note(base, other, _source(tracer, document, leaf, kind), traces):
            return


def _source(
    tracer: Tracer, document: Document, leaf: Leaf, kind: str = "stack", line: int | None = None
) -> Source:
    span = place_of_leaf(document, leaf, line)
    return Source(dotted(leaf.path), places.located(span.location, tracer.stack), kind)


def dotted(path: tuple[str | int, ...]) -> str:
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def _pairs(base: Rendered, other: Rendered) -> Iterator[tuple[str, str, str]]:
    """(path, text, text in the other rendering or empty) of each artifact of the base."""
    theirs = {place_of(path, other.labels): text for path, text in other.texts.items()}
    for path, text in base.texts.items():
        yield path, text, theirs.get(place_of(path, base.labels), "")


def _note(base: Rendered, other: Rendered, source: Source, traces: _Traces) -> bool:
    """The source goes to every line that is another; whether there is any."""
    found = False
    for path, text, theirs in _pairs(base, other):
        for number, _ in changed_lines(text, theirs):
            traces.sources[path, number][source] = None
            found = True
    return found


def _note_text(
    tracer: Tracer,
    base: Rendered,
    other: Rendered,
    document: Document,
    leaf: Leaf,
    kind: str,
    traces: _Traces,
) -> bool:
    """Each line of a text to the line that shows it."""
    found = False
    for path, text, theirs in _pairs(base, other):
        for number, instead in changed_lines(text, theirs):
            at = marked_line(instead)
            source = _source(tracer, document, leaf, kind, at)
            traces.sources[path, number][source] = None
            found = True
    return found


def _trace_rules(tracer: Tracer, base: Rendered, traces: _Traces) -> None:
    """Lines that depend on what no document says."""
    renamed = Tracer(
        tracer.prepared, tracer.stack, tracer.target, tracer.run + 1, tracer.environ
    ).as_it_is()
    for rule, other in (
        (_DIGESTS, tracer.with_job(_other_digests)),
        (_RUN, renamed),
        ("name of the file, as the task has none", _renamed(tracer)),
    ):
        if other is None:
            continue
        for path, text, theirs in _pairs(base, other):
            for number, _ in changed_lines(text, theirs):
                traces.rules[path, number][rule] = None


def _other_digests(job: Job) -> Job:
    members = tuple(_other_digests(member) for member in job.members)
    return replace(job, spec_digest="0" * 64, files_digest="0" * 64, members=members)


def _renamed(tracer: Tracer) -> Rendered | None:
    """The work under another name, where only its file's name gave it one."""
    if "name" in tracer.prepared.work.origin.document.data:
        return None
    return tracer.with_job(lambda job: replace(job, work=f"{job.work}x"))


def _finished(tracer: Tracer, base: Rendered, traces: _Traces) -> dict[str, dict[int, Line]]:
    spec = tracer.stack.targets[tracer.target]
    catalogue = _catalogue_rule(base.job, spec)
    result: dict[str, dict[int, Line]] = {}
    for path, text in base.texts.items():
        lines = result.setdefault(path, {})
        made_by = template_lines(text, TEMPLATE_FOLDERS[spec.kind])
        for number, shown in enumerate(text.splitlines(), start=1):
            sources = tuple(traces.sources.get((path, number), ()))
            rules = list(traces.rules.get((path, number), ()))
            template = made_by[number - 1]
            if template is not None:
                rules.append(f"template {template.location}")
            if catalogue and any(_is_looked_up(source) for source in sources):
                rules.append(catalogue)
            if not sources and not rules and shown.strip():
                rules.append(_DEFAULT.format(spec.kind))
            lines[number] = Line(sources, tuple(rules))
    return result


def project_line(spec: TargetSpec, text: str, number: int) -> Line:
    """What made a line of a target's own files, which no task is in."""
    template = template_lines(text, TEMPLATE_FOLDERS[spec.kind])[number - 1]
    made_by = f"template {template.location}" if template is not None else None
    return Line(rules=(made_by or _DEFAULT.format(spec.kind),))


def _is_looked_up(source: Source) -> bool:
    return source.field.startswith("resources.") and bool(
        _LOOKED_UP & set(source.field.replace("[", ".").split("."))
    )


def _catalogue_rule(job: Job, spec: TargetSpec) -> str:
    """The row of the catalogue that the job's resources were looked up in, in words."""
    from compiler.catalog import Choice, choose_instance

    if spec.kind is TargetKind.AWS:
        choice = choose_instance(job.resources, str(spec.options.get("region") or spec.key))
        if isinstance(choice, Choice):
            return f"catalogue row of instance type {choice.instance.name}"
        return ""
    accelerator = job.resources.accelerator
    return f"catalogue row of accelerator {accelerator.name}" if accelerator else ""
