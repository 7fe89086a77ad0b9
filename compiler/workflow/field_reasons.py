"""Which field of the task each difference of a plan comes from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice

from compiler.model import Stack
from compiler.planning.because import Because
from compiler.planning.differences import FieldChange, MergeKeys, changed_paths
from compiler.planning.digests import changed_fields
from compiler.planning.plan import ObjectChange, WorkChange
from compiler.planning.provenance import Leaf, leaves, place_of
from compiler.source import Document
from compiler.targets.interface import JoinedGroup
from compiler.targets.registry import merge_keys_of
from compiler.workflow.prepare import Prepared
from compiler.workflow.tracing import Rendered, Tracer, alternatives_of

MOST_VALUES = 200
# Parts of a spec whose key in the document is another one.
_WRITTEN_AS = {"storage": "file_mounts", "native_script": "config", "native_arguments": "config"}


def with_field_reasons(
    change: WorkChange,
    prepared: Prepared,
    stack: Stack,
    environ: Mapping[str, str],
    joins: JoinedGroup | None = None,
) -> WorkChange:
    """The change with a reason at each of its differences, as far as one is found.

    Each value of the task that belongs to a changed part is changed once more: the fields that
    this moves are the fields that it makes. A work is rendered at most `MOST_VALUES` times for
    that; of one with more changed values the rest of the fields stay without a reason.
    """
    if not change.because or not any(item.fields for item in change.objects):
        return change
    tracer = Tracer(
        prepared, stack, change.target, change.run, environ, keep_digests=False, joins=joins
    )
    base = tracer.as_it_is()
    if base is None:
        return change
    reasons = {item.field: item for item in change.because}
    merge_keys = merge_keys_of(stack.targets[change.target])
    made: dict[str, dict[str, None]] = defaultdict(dict)  # `place\0field` -> keys of the spec
    found: set[str] = set()
    asked = list(islice(_values(tracer, reasons), MOST_VALUES + 1))
    for keys, other in _moved(tracer, base, reasons, asked[:MOST_VALUES]):
        found |= keys
        for place, field in _fields(base, other, merge_keys):
            made[f"{place}\0{field}"].update(dict.fromkeys(sorted(keys)))
    # What was taken out of the task can no longer be changed: it made what nothing else did.
    unmade = sorted(reasons.keys() - found) if len(asked) <= MOST_VALUES else ()
    gone = [reasons[key] for key in unmade]
    objects = tuple(_explained(item, base, made, reasons, gone) for item in change.objects)
    return replace(change, objects=objects)


def _values(tracer: Tracer, reasons: Mapping[str, Because]) -> Iterator[tuple[Document, Leaf]]:
    """The values of the work that may belong to a changed part."""
    heads = {_WRITTEN_AS.get(step, step) for key in reasons for step in key.split(".")}
    for document in tracer.documents():
        for leaf in leaves(document.data):
            if leaf.path[0] in heads:
                yield document, leaf


def _moved(
    tracer: Tracer,
    base: Rendered,
    reasons: Mapping[str, Because],
    values: Iterable[tuple[Document, Leaf]],
) -> Iterator[tuple[set[str], Rendered]]:
    """(changed parts of the spec that a value belongs to, the work with another value there)."""
    for document, leaf in values:
        for other in _renderings(tracer, document, alternatives_of(document, leaf)):
            keys = set(changed_fields(base.spec, other.spec)) & reasons.keys()
            if keys:
                yield keys, other
            break


def _renderings(
    tracer: Tracer, document: Document, changed: Iterator[Document]
) -> Iterator[Rendered]:
    for item in changed:
        other = tracer.with_document(document, item)
        if other is not None:
            yield other


def _fields(base: Rendered, other: Rendered, merge_keys: MergeKeys) -> Iterator[tuple[str, str]]:
    """(place of the artifact, path of the field) of everything that is another."""
    theirs = {place_of(path, other.labels): text for path, text in other.texts.items()}
    for artifact in base.artifacts:
        place = place_of(artifact.path, base.labels)
        text = theirs.get(place)
        if text is not None and text != artifact.text:
            for path in changed_paths(text, artifact, merge_keys):
                yield place, path


def _explained(
    item: ObjectChange,
    base: Rendered,
    made: Mapping[str, Mapping[str, None]],
    reasons: Mapping[str, Because],
    gone: list[Because],
) -> ObjectChange:
    place = place_of(item.path, base.labels)
    here = {
        key.partition("\0")[2]: keys
        for key, keys in made.items()
        if key.partition("\0")[0] == place
    }

    def because(field: FieldChange) -> tuple[Because, ...]:
        keys = {
            key: None for path, keys in here.items() if _overlap(path, field.path) for key in keys
        }
        return tuple(reasons[key] for key in keys) or tuple(gone)

    fields = tuple(replace(field, because=because(field)) for field in item.fields)
    return replace(item, fields=fields)


def _overlap(one: str, other: str) -> bool:
    """Whether two paths are the same field, or one lies in the other."""
    short, long = sorted((one, other), key=len)
    return long == short or (long.startswith(short) and (not short or long[len(short)] in ".["))
