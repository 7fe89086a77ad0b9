"""The set's volumes, and the tasks that mount them by name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from compiler import model, source
from compiler.diagnostics import Diagnostic, Diagnostics
from compiler.diagnostics.codes import workflow as codes
from compiler.model import Stack, Task, Volume, auto_mounted, check_named_volumes
from compiler.source import Kind, suggest
from compiler.source.reading import shown_path
from compiler.workflow.loading import Loaded
from compiler.workflow.observe import World
from compiler.workflow.prepare import Prepared
from compiler.workflow.works import Work


def volumes_first(works: Iterable[Work]) -> list[Work]:
    """Volumes before what may mount them, else in the order given."""
    return sorted(works, key=lambda work: work.volume is None)


def with_volumes(loaded: Loaded, stack: Stack, diagnostics: Diagnostics) -> Loaded:
    """The same with the volumes of the set, against which every task is checked.

    Those that tasks name and the paths do not hold are looked for in the stack's inputs.
    """
    known = {work.name: work.volume for work in loaded.works if work.volume is not None}
    inputs = dict(loaded.inputs)
    tasks = [task for work in loaded.works for task in work.tasks]
    wanted = {mount.name for task in tasks for mount in task.volumes if mount.name is not None}
    wanted |= auto_mounted(stack.config) if tasks else frozenset()
    for name, volume in _of_inputs(stack).items() if wanted - known.keys() else ():
        if name in wanted - known.keys():
            known[name] = volume
            text = volume.origin.document.source
            inputs[text.path] = hashlib.sha256(text.text.encode()).hexdigest()
    if not diagnostics.has_errors:  # else the volume's own document may be what is wrong
        for task in tasks:
            diagnostics.extend(_unknown(task, known))
            check_named_volumes(task, known, diagnostics)
    return replace(loaded, inputs=inputs, known_volumes=known)


def mounting(volume: str, works: Sequence[Work]) -> list[tuple[str, Task]]:
    """(work, task) of each task that mounts the volume."""
    return [
        (work.name, task)
        for work in works
        for task in work.tasks
        if any(mount.name == volume for mount in task.volumes)
    ]


def volumes_at(loaded: Loaded, world: World) -> dict[str, frozenset[str]]:
    """By its name the target that a volume of the set is recorded on."""
    found = {name: world.last_run(name)[0] for name in loaded.known_volumes}
    return {name: frozenset((at,)) for name, at in found.items() if at is not None}


def not_made(prepared: Prepared, volumes_at: Mapping[str, object]) -> Iterator[Diagnostic]:
    """Volumes that the work mounts, that are to be made, and that are on no target."""
    for member in prepared.members:
        for mount in member.task.volumes:
            volume = member.mounted.get(mount.name or "")
            if volume is not None and not volume.use_existing and volume.name not in volumes_at:
                yield codes.VOLUME_NOT_MADE.at(
                    mount.origin.span(),
                    f"volume `{volume.name}` is not there yet, and is not in this plan",
                    hint=f"apply {shown_path(volume.origin.document.source.path)} too",
                )


def _unknown(task: Task, volumes: Mapping[str, Volume]) -> Iterator[Diagnostic]:
    for mount in task.volumes:
        if mount.name is None or mount.name in volumes:
            continue
        near = suggest(mount.name, volumes)
        yield codes.VOLUME_UNKNOWN.at(
            mount.origin.span(),
            f"the set has no volume `{mount.name}`",
            expected=", ".join(sorted(volumes)) or None,
            hint=f"did you mean `{near}`?"
            if near
            else "add its document to the set's inputs; `use_existing: true` for one that is "
            "there already",
        )


def _of_inputs(stack: Stack) -> Mapping[str, Volume]:
    """The volumes in the inputs of the set; what is wrong there is said when they are planned."""
    unsaid = Diagnostics()
    found = {}
    for unit in source.read_units(stack.inputs, unsaid):
        if unit.kind is Kind.VOLUME:
            for document in unit.documents:
                volume = model.build_volume(document, unsaid)
                if volume is not None:
                    found[volume.name] = volume
    return found
