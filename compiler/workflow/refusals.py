"""Why a target cannot take a work: as a whole, for one of its tasks, or for where others are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from compiler.diagnostics import Diagnostic, Related
from compiler.diagnostics.codes.model_mounts import VOLUME_PLACES
from compiler.diagnostics.codes.targets import FIELD_REFUSED
from compiler.model import Resources, Stack, TargetSpec, Task, Volume
from compiler.placement import matching_targets
from compiler.placement.table import Refuse
from compiler.targets.interface import SupportLevel
from compiler.targets.registry import target_of
from compiler.workflow.policing import policy_refusals
from compiler.workflow.prepare import Prepared
from compiler.workflow.works import Work

JOINED_LATER = "group (joined later)"
_CALLED = {"kubernetes": "Kubernetes", "slurm": "Slurm", "aws": "AWS"}

VolumesAt = Mapping[str, frozenset[str]]
"""By the name of a volume the targets on which it is."""

MountedBy = Sequence[tuple[str, Task]]
"""(work, task) of each task that mounts the volume in question."""


def refuse_of(
    prepared: Prepared, stack: Stack, volumes_at: VolumesAt, mounted_by: MountedBy
) -> Refuse:
    """What placement asks about each candidate of each task of the work. What stands against a
    group or a pipeline as a whole is asked once, with `of_whole`."""
    work = prepared.work

    def refuse(task: Task, resources: Resources, spec: TargetSpec) -> Iterator[Diagnostic]:
        if work.whole is None:
            yield from of_whole(work, spec)
        if work.volume is None:
            yield from target_of(spec.kind).refusals(task, resources, spec)
            yield from policy_refusals(task, resources, spec, stack)
            yield from _volumes_elsewhere(task, spec, volumes_at)
        else:
            yield from _out_of_reach(work.volume, stack, spec, mounted_by)

    return refuse


def of_whole(work: Work, spec: TargetSpec) -> Iterable[Diagnostic]:
    """What the target has against this kind of work, by its support table and by its own word."""
    target = target_of(spec.kind)
    row = row_of(work)
    if row is not None:
        support = target.support.get(row)
        if support is None or support.level is SupportLevel.REFUSED:
            note = support.note if support else "is not expressed"
            shown = row.partition(" (")[0]
            yield FIELD_REFUSED.at(
                work.origin.span(),
                f"`{shown}` on {_CALLED[spec.kind]}: {note}",
                hint=(support.hint if support else "") or None,
                target=spec.key,
            )
            return
    whole = work.whole or work.volume
    if whole is not None:
        yield from target.refusals_of_whole(whole, spec)


def row_of(work: Work) -> str | None:
    """The row of the support tables for this kind of work, None for a task alone."""
    if work.joins is not None:
        return JOINED_LATER
    if work.task is not None:
        return None
    return "group" if work.group else "pipeline" if work.pipeline else "volume"


def _volumes_elsewhere(task: Task, spec: TargetSpec, volumes_at: VolumesAt) -> Iterator[Diagnostic]:
    for mount in task.volumes:
        there = volumes_at.get(mount.name or "")
        if there is not None and spec.key not in there:
            yield VOLUME_PLACES.at(
                mount.origin.span(),
                f"volume `{mount.name}` is on {', '.join(sorted(there))}",
                target=spec.key,
            )


def _out_of_reach(
    volume: Volume, stack: Stack, spec: TargetSpec, mounted_by: MountedBy
) -> Iterator[Diagnostic]:
    """Tasks that mount the volume and may not go to this target."""
    for name, task in mounted_by:
        allowed = (matching_targets(item.infra, stack) for item in task.resources.candidates)
        if not any(spec in targets for targets in allowed):
            yield VOLUME_PLACES.at(
                volume.origin.span("infra"),
                f"`{name}`, which mounts volume `{volume.name}`, may not go to {spec.key}",
                related=[Related("this task", task.resources.origin.span())],
                target=spec.key,
            )
