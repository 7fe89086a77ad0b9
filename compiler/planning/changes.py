"""From desired and observed state to changes: pure, and the same for every platform."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from compiler.model import names
from compiler.planning.because import Because
from compiler.planning.differences import MergeKeys, differences
from compiler.planning.digests import changed_fields
from compiler.planning.outcomes import Action, Decision
from compiler.planning.plan import ObjectChange, PlacementRow, WorkChange
from compiler.planning.records import Record
from compiler.planning.states import ObservedRun, RunState
from compiler.rendering.artifact import Artifact, ArtifactKind
from compiler.rendering.filetree import FileTree


@dataclass(frozen=True, slots=True)
class Preview:
    """What a platform would make of artifacts: `texts` by path, in the form of live texts.

    Empty where it was not asked; `objects` are changes of what the platform makes out of the
    artifacts, as it says itself; `notes` are for people (whose fields would be taken over).
    """

    texts: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    objects: tuple[ObjectChange, ...] = ()


@dataclass(frozen=True, slots=True)
class Desired:
    """One work as the input wants it, rendered for the run that was decided.

    `record` is the intent of that run. `locate` tells where a field (by its spec key) is
    written. `preview` asks the platform, which defaults fields, what would be there.
    """

    record: Record
    artifacts: tuple[Artifact, ...]
    uploads: tuple[FileTree, ...] = ()
    required: tuple[str, ...] = ()
    placement: tuple[PlacementRow, ...] = ()
    locate: Callable[[str], str | None] = field(default=lambda _: None)
    preview: Callable[[tuple[Artifact, ...]], Preview] = field(default=lambda _: Preview())


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
    note = decision.note
    if decision.action.changes:
        there = desired.preview(desired.artifacts)
        objects = (
            *_of_one_work(desired, last, live, decision.action, merge_keys, there),
            *there.objects,
        )
        note = "; ".join(filter(None, (note, *there.notes)))
    elif last and decision.action is Action.NOOP and last.drifted:
        names = ", ".join(f"{item.name} {_DRIFTED[item.action]}" for item in last.drifted)
        action, reason, objects = Action.UPDATE, f"drift: {names}", last.drifted
    elif last and decision.action is Action.NOOP and (drifted := drift(last)):
        action, reason = Action.UPDATE, f"drift: {', '.join(drifted)}"
        if last.heals:
            # Only what was changed by hand is put back: the rest runs as it was made.
            paths = drifted_paths(last)
            desired = replace(
                desired, artifacts=tuple(item for item in desired.artifacts if item.path in paths)
            )
            live = {path: text for path, text in live.items() if path in paths}
        there = desired.preview(desired.artifacts)
        objects = tuple(_of_one_work(desired, last, live, action, merge_keys, there))
        note = note if last.heals else _healed_to(desired, last, note)
        note = "; ".join(filter(None, (note, *there.notes)))
    return WorkChange(
        work=desired.record.work,
        target=desired.record.target,
        kind=desired.record.kind,
        action=action,
        reason=reason,
        note=note,
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
        ObjectChange(
            path,
            _name_of(path),
            Action.DELETE,
            before=live_digest(last.artifacts.get(path), digest),
        )
        for path, digest in sorted(record.files.items())
        if decision.action is Action.DELETE
    )
    note = decision.note
    edited = [words for words in drift(last) if words.endswith(EDITED)] if objects else []
    if edited:
        note = f"{', '.join(edited)}; the edit goes with it"
    return WorkChange(
        work=record.work,
        target=record.target,
        kind=record.kind,
        action=decision.action,
        reason=decision.reason,
        note=note,
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
        yield _compared(artifact, before, Action.UPDATE, merge_keys, artifact.text)
    for path in sorted(rest):
        yield ObjectChange(path, _name_of(path), Action.DELETE)


def _of_one_work(
    desired: Desired,
    last: ObservedRun | None,
    live: Mapping[str, str],
    action: Action,
    merge_keys: MergeKeys,
    there: Preview,
) -> Iterator[ObjectChange]:
    """Objects are paired by work: the live one at the same place but for the run's number."""
    earlier = last.record if last else desired.record
    by_place = {_place(path, earlier): (path, text) for path, text in live.items()}
    for artifact in desired.artifacts:
        place = _place(artifact.path, desired.record)
        path, before = by_place.pop(place, (None, None))
        if before is None:
            yield ObjectChange(artifact.path, artifact.name, Action.CREATE, artifact)
            continue
        after = there.texts.get(artifact.path, artifact.text)
        compared = _compared(artifact, before, action, merge_keys, after)
        kept = action is Action.UPDATE and path == artifact.path
        yield compared if kept else replace(compared, action=action)
    if action is Action.UPDATE:
        for path, text in by_place.values():
            digest = live_digest(text, earlier.files.get(path, ""))
            yield ObjectChange(path, _name_of(path), Action.DELETE, before=digest)


def _compared(
    artifact: Artifact, before: str, action: Action, merge_keys: MergeKeys, after: str
) -> ObjectChange:
    """`after` is what the artifact would be there; `before` what is there now."""
    fields = tuple(differences(before, replace(artifact, text=after), merge_keys))
    digest = replace(artifact, text=before).digest
    if before == after:
        action = Action.NOOP
    return ObjectChange(artifact.path, artifact.name, action, artifact, digest, fields)


EDITED = "changed by hand"
_DRIFTED = {
    Action.CREATE: "is missing",
    Action.UPDATE: EDITED,
    Action.REPLACE: f"{EDITED}, and cannot be put back in place",
    Action.DELETE: "is left over",
}


def drift(last: ObservedRun) -> list[str]:
    """What of a written run, or of one that heals, is no longer as its record says, in words."""
    found: list[str] = []
    if last.state is not RunState.WRITTEN and not last.heals:
        return found
    for path, written in sorted(last.record.files.items()):
        live = last.artifacts.get(path)
        if live is None:
            found.append(f"{path} is gone")
        elif live_digest(live, written) != written:
            found.append(f"{path} {EDITED}")
    return found


def drifted_paths(last: ObservedRun) -> frozenset[str]:
    return frozenset(
        path
        for path, written in last.record.files.items()
        if live_digest(last.artifacts.get(path), written) != written
    )


def live_digest(text: str | None, written: str) -> str | None:
    """The `Artifact.digest` of a live text, None for none.

    A text alone does not show the executable bit; where only that could differ, it does not.
    """
    if text is None:
        return None
    probe = Artifact("", text, ArtifactKind.CONFIG, "")
    executable = replace(probe, executable=True).digest
    return executable if executable == written else probe.digest


def _healed_to(desired: Desired, last: ObservedRun, note: str) -> str:
    """What is said where a run cannot be healed to the very bytes that were written."""
    if dict(desired.record.files) == dict(last.record.files):
        return note
    return "written anew as this input and version render it, which is not what was there"


def _place(path: str, record: Record) -> str:
    """A path without what carries the run number: the job's folder, and names made like it."""
    label = names.run_label(record.set, record.work, record.run)
    place = path.split("/", 2)[-1]
    return place.replace(label, "*").replace(label.replace("-", "_"), "*")


def _name_of(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _sorted_rows(decision: Decision) -> tuple:
    return tuple(sorted(decision.rows, key=lambda row: row or ""))
