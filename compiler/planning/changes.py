"""From desired and observed state to changes: pure, and the same for every platform."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from compiler.planning.differences import MergeKeys, differences
from compiler.planning.digests import changed_fields
from compiler.planning.outcomes import Action, Decision
from compiler.planning.plan import Because, ObjectChange, PlacementRow, WorkChange
from compiler.planning.records import Record
from compiler.planning.states import ObservedRun
from compiler.rendering.artifact import Artifact
from compiler.rendering.filetree import FileTree


@dataclass(frozen=True, slots=True)
class Desired:
    """One work as the input wants it, rendered for the run that was decided.

    `record` is the intent of that run. `locate` tells where a field (by its spec key) is
    written.
    """

    record: Record
    artifacts: tuple[Artifact, ...]
    uploads: tuple[FileTree, ...] = ()
    required: tuple[str, ...] = ()
    placement: tuple[PlacementRow, ...] = ()
    locate: Callable[[str], str | None] = field(default=lambda _: None)


def work_change(
    desired: Desired, last: ObservedRun | None, decision: Decision, merge_keys: MergeKeys
) -> WorkChange:
    """The change of a work that is wanted."""
    live = dict(last.artifacts) if last else {}
    because: tuple[Because, ...] = ()
    if last and decision.action is not Action.NOOP:
        keys = changed_fields(last.record.spec, desired.record.spec) if last.record.spec else []
        because = tuple(Because(key, desired.locate(key)) for key in keys)
    objects: tuple[ObjectChange, ...] = ()
    action, reason = decision.action, decision.reason
    if decision.action.changes:
        objects = tuple(_of_one_work(desired.artifacts, live, decision, merge_keys))
    elif decision.action is Action.NOOP and last:
        drifted = _drift(desired, last, merge_keys)
        if drifted:
            action, objects = Action.UPDATE, drifted
            reason = "drift: " + ", ".join(item.path for item in drifted) + " changed by hand"
    return WorkChange(
        work=desired.record.work,
        target=desired.record.target,
        kind=desired.record.kind,
        action=action,
        reason=reason,
        note=decision.note,
        run=decision.run,
        rows=_sorted_rows(decision),
        state=last.state if last else None,
        last_run=last.record.run if last else None,
        identity=last.record.identity if last else None,
        because=because,
        objects=objects,
        record=desired.record if action.changes else None,
        uploads=desired.uploads if action.changes else (),
        secrets=desired.record.secrets if action.changes else {},
        required=desired.required,
        placement=desired.placement,
    )


def removal_change(last: ObservedRun, decision: Decision) -> WorkChange:
    """The change of a work that is recorded but no longer wanted."""
    record = last.record
    objects = tuple(
        ObjectChange(path, _name_of(path), Action.DELETE, before=digest)
        for path, digest in sorted(record.files.items())
        if decision.action is Action.DELETE
    )
    return WorkChange(
        work=record.work,
        target=record.target,
        kind=record.kind,
        action=decision.action,
        reason=decision.reason,
        note=decision.note,
        run=record.run,
        rows=_sorted_rows(decision),
        state=last.state,
        last_run=record.run,
        identity=record.identity,
        objects=objects,
        record=record if decision.action is Action.DELETE else None,
    )


def object_changes(
    artifacts: Iterable[Artifact], live: Mapping[str, str], merge_keys: MergeKeys
) -> Iterator[ObjectChange]:
    """Two trees compared file by file: created, updated, deleted, or no-op where equal."""
    rest = dict(live)
    for artifact in artifacts:
        before = rest.pop(artifact.path, None)
        if before is None:
            yield ObjectChange(artifact.path, artifact.name, Action.CREATE, artifact)
            continue
        yield _compared(artifact, before, Action.UPDATE, merge_keys)
    for path in sorted(rest):
        yield ObjectChange(path, _name_of(path), Action.DELETE)


def _of_one_work(
    artifacts: tuple[Artifact, ...],
    live: Mapping[str, str],
    decision: Decision,
    merge_keys: MergeKeys,
) -> Iterator[ObjectChange]:
    """Objects are paired by work: the live one at the same place below the job's folder."""
    by_place = {_place(path): (path, text) for path, text in live.items()}
    for artifact in artifacts:
        path, before = by_place.pop(_place(artifact.path), (None, None))
        if before is None:
            yield ObjectChange(artifact.path, artifact.name, Action.CREATE, artifact)
        elif decision.action is Action.UPDATE and path == artifact.path:
            yield _compared(artifact, before, Action.UPDATE, merge_keys)
        else:
            yield replace(
                _compared(artifact, before, decision.action, merge_keys), action=decision.action
            )
    if decision.action is Action.UPDATE:
        for path, _ in by_place.values():
            yield ObjectChange(path, _name_of(path), Action.DELETE)


def _compared(
    artifact: Artifact, before: str, action: Action, merge_keys: MergeKeys
) -> ObjectChange:
    fields = tuple(differences(before, artifact, merge_keys))
    digest = replace(artifact, text=before).digest
    if before == artifact.text:
        action = Action.NOOP
    return ObjectChange(artifact.path, artifact.name, action, artifact, digest, fields)


def _drift(desired: Desired, last: ObservedRun, merge_keys: MergeKeys) -> tuple[ObjectChange, ...]:
    """Live texts that differ from what the record says was written there.

    They are healed to what is rendered now. Where the run was written from other files (or by
    another version) its untouched objects stay as they are.
    """
    if not last.artifacts and not last.record.files:
        return ()
    rendered = {artifact.path: artifact for artifact in desired.artifacts}
    found = []
    for path, written in sorted(last.record.files.items()):
        artifact = rendered.get(path)
        if artifact is None:
            continue
        live = last.artifacts.get(path)
        if live is None:
            found.append(ObjectChange(path, artifact.name, Action.CREATE, artifact))
        elif replace(artifact, text=live).digest != written:
            found.append(_compared(artifact, live, Action.UPDATE, merge_keys))
    return tuple(found)


def _place(path: str) -> str:
    """A path without the job's folder, which carries the run number."""
    return path.split("/", 3)[-1]


def _name_of(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _sorted_rows(decision: Decision) -> tuple:
    return tuple(sorted(decision.rows, key=lambda row: row or ""))
