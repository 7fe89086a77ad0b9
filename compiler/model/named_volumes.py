"""Tasks against the volumes that they mount by name."""

from __future__ import annotations

from collections.abc import Mapping

from compiler.diagnostics import Diagnostics, Related
from compiler.diagnostics.codes import model_mounts as codes
from compiler.model.build_volume import CLOUD_OF_TYPE
from compiler.model.infra import parse_infra
from compiler.model.resources import Choice, Infra, Resources, ResourceSet
from compiler.model.storage import Volume, VolumeMount
from compiler.model.task import Task
from compiler.model.volume_mounts import DEFAULT_ACCESS_MODE, EPHEMERAL_TYPE, ONE_NODE_MODES
from compiler.source.wording import quoted


def check_named_volumes(
    task: Task, volumes: Mapping[str, Volume], diagnostics: Diagnostics
) -> None:
    """Check the task against those of its volumes whose documents are at hand.

    `volumes` are volumes by name. A volume must be mountable on as many nodes as the task
    has, and be where every candidate of the task may go, so in one place with the others.
    """
    used = [
        (mount, volumes[mount.name])
        for mount in task.volumes
        if mount.name is not None and mount.name in volumes
    ]
    for mount, volume in used:
        _check_access_mode(task, mount, volume, diagnostics)
        _check_candidates(task, mount, volume, diagnostics)
    for at, (mount, volume) in enumerate(used):
        for _, other in used[:at]:
            if _differ(place_of(volume), place_of(other)):
                diagnostics.add(
                    codes.VOLUME_PLACES.at(
                        mount.origin.span(),
                        f"the volumes {quoted(other.name)} and {quoted(volume.name)} "
                        "are in different places",
                        found=f"{place_of(other)} and {place_of(volume)}",
                        related=[
                            Related("one volume", other.origin.span("infra")),
                            Related("the other", volume.origin.span("infra")),
                        ],
                    )
                )
                break


def mounted_volumes(
    task: Task, volumes: Mapping[str, Volume], everywhere: frozenset[str] = frozenset()
) -> dict[str, Volume]:
    """Those of `volumes` that the task mounts, by name; `everywhere` are mounted by all tasks."""
    used = sorted({mount.name for mount in task.volumes if mount.name is not None} | everywhere)
    return {name: volumes[name] for name in used if name in volumes}


def auto_mounted(config: Mapping[str, object]) -> frozenset[str]:
    """The volumes that `auto_mounts` of a stack's configuration name, for any context."""
    kubernetes = config.get("kubernetes")
    sections: list[object] = [kubernetes]
    if isinstance(kubernetes, Mapping):
        scopes = kubernetes.get("context_configs")
        sections += scopes.values() if isinstance(scopes, Mapping) else ()
    return frozenset(
        str(entry["volume_name"])
        for section in sections
        if isinstance(section, Mapping)
        for entry in section.get("auto_mounts") or ()
        if isinstance(entry, Mapping) and entry.get("volume_name")
    )


def volume_task(volume: Volume) -> Task:
    """A task that asks for nothing but the volume's place, by which it is placed."""
    origin = volume.origin
    candidate = Resources(
        infra=place_of(volume),
        given=frozenset({"infra"} if volume.infra else ()),
        origin=origin,
        outer=origin,
    )
    resources = ResourceSet(Choice.ONE, (candidate,), origin)
    return Task(name=volume.name, num_nodes=1, resources=resources, origin=origin)


def place_of(volume: Volume) -> Infra:
    """Where the volume is: its `infra`, else anywhere on the cloud of its type."""
    return parse_infra(volume.infra) if volume.infra else Infra(CLOUD_OF_TYPE.get(volume.type))


def _differ(one: Infra, other: Infra) -> bool:
    """Whether no place is in both."""
    return any(
        mine is not None and yours is not None and mine != yours
        for mine, yours in (
            (one.cloud, other.cloud),
            (one.region, other.region),
            (one.zone, other.zone),
        )
    )


def _check_access_mode(
    task: Task, mount: VolumeMount, volume: Volume, diagnostics: Diagnostics
) -> None:
    mode = volume.access_mode or DEFAULT_ACCESS_MODE
    if task.num_nodes < 2 or volume.type != EPHEMERAL_TYPE or mode not in ONE_NODE_MODES:
        return
    diagnostics.add(
        codes.VOLUME_ACCESS_MODE.at(
            mount.origin.span(),
            f"volume {quoted(volume.name)} is {mode}, for one node; the task has {task.num_nodes}",
            hint="give the volume `access_mode: ReadWriteMany`",
            related=[Related("the volume", volume.origin.span("config", "access_mode"))],
        )
    )


def _check_candidates(
    task: Task, mount: VolumeMount, volume: Volume, diagnostics: Diagnostics
) -> None:
    place = place_of(volume)
    for candidate in task.resources.candidates:
        if _differ(candidate.infra, place):
            diagnostics.add(
                codes.VOLUME_PLACES.at(
                    candidate.origin_of("infra").span(),
                    f"volume {quoted(volume.name)} is on {place}, not on {candidate.infra}",
                    hint="leave this place out, or mount another volume",
                    related=[Related("mounted here", mount.origin.span())],
                )
            )
            return
