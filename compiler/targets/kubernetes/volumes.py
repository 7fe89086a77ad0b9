"""Volumes of a task: claims by name, folders of the node, claims made for the run.

A claim is one entry of the pod's volumes however often it is mounted, as the kubelet waits for
ever on a claim that a pod has twice. What is mounted below the home goes to a place of its own
and is linked from there, since only the image knows where the home is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compiler.diagnostics import Diagnostic, Diagnostics, Related
from compiler.diagnostics.codes import kubernetes_features as codes
from compiler.diagnostics.codes import model_mounts
from compiler.model import Volume, VolumeMount, names
from compiler.targets.interface import Job
from compiler.targets.kubernetes import metadata
from compiler.targets.kubernetes.additions import NOTHING, Addition
from compiler.targets.kubernetes.manifest import Manifest
from compiler.targets.kubernetes.places import Place, place_of
from compiler.targets.kubernetes.settings import Settings

VOLUME_FOLDER = "/triplane/volumes"
PVC, HOST_PATH = "k8s-pvc", "k8s-hostpath"
DEFAULT_ACCESS_MODE = "ReadWriteOnce"
ONE_NODE_MODES = frozenset(("ReadWriteOnce", "ReadWriteOncePod"))
# A claim that is written to by whoever the image runs as; the dialect's own number.
FS_GROUP = {"fsGroup": 1000, "fsGroupChangePolicy": "OnRootMismatch"}


@dataclass(frozen=True, slots=True)
class _Mount:
    """A mount of the task or of the stack, with what is known of the volume behind it."""

    wanted: VolumeMount
    volume: Volume | None


def claim_spec(
    size_gib: int | None, access_mode: str | None, storage_class_name: str | None
) -> dict[str, object]:
    """The spec of a claim; no class leaves it to the cluster, `''` means none at all."""
    spec: dict[str, object] = {"accessModes": [access_mode or DEFAULT_ACCESS_MODE]}
    if storage_class_name is not None:
        spec["storageClassName"] = storage_class_name
    spec["resources"] = {"requests": {"storage": f"{size_gib}Gi"}}
    return spec


def claim_name(set_name: str, volume: Volume) -> str:
    """The claim of a volume document: an existing one by its own name, else the set's."""
    return volume.name if volume.use_existing else names.work_label(set_name, volume.name)


def pod_volumes(job: Job, settings: Settings, diagnostics: Diagnostics) -> Addition:
    """What the task's `volumes` and the stack's `auto_mounts` come to."""
    sources: dict[tuple[str, str], dict[str, object]] = {}
    mounts: list[dict[str, object]] = []
    manifests: list[Manifest] = []
    links: list[Place] = []
    taken = {str(place_of(item.destination)): item.origin for item in job.task.storage}
    for index, mount in enumerate(_mounts(job, settings)):
        wanted, place = mount.wanted, place_of(mount.wanted.path)
        if first := taken.get(str(place)):
            diagnostics.add(
                model_mounts.MOUNT_TWICE.at(
                    wanted.origin.span(),
                    f"two mounts at `{wanted.path}`",
                    related=[Related("the first one", first.span())],
                    target=job.target.key,
                )
            )
            continue
        taken[str(place)] = wanted.origin
        diagnostics.extend(_faults(mount, job, settings))
        key, source, claim = _source(job, settings, mount, index)
        if claim is not None:
            manifests.append(claim)
        entry = sources.setdefault(key, {"name": f"triplane-volume-{len(sources)}", **source})
        path = place.path
        if place.in_home:
            path = f"{VOLUME_FOLDER}/{index}"
            links.append(Place(path, place.path, in_home=True))
        mounted: dict[str, object] = {"name": entry["name"], "mountPath": path}
        if wanted.sub_path is not None:
            mounted["subPath"] = wanted.sub_path
        if access_mode(wanted, mount.volume) == "ReadOnlyMany":
            mounted["readOnly"] = True
        mounts.append(mounted)
    if not mounts:
        return NOTHING
    # files of a new claim belong to root; folders of a node are not touched
    has_claim = any("hostPath" not in source for source in sources.values())
    return Addition(
        volumes=tuple(sources.values()),
        mounts=tuple(mounts),
        spec={"securityContext": dict(FS_GROUP)} if has_claim else {},
        manifests=tuple(manifests),
        links=tuple(links),
    )


def one_node_volume(job: Job, settings: Settings) -> VolumeMount | None:
    """A mount whose claim only pods of one node can have, as far as that is known; what is made
    for each pod is its own."""
    for mount in _mounts(job, settings):
        mode = access_mode(mount.wanted, mount.volume)
        if mode in ONE_NODE_MODES and mount.wanted.size_gib is None:
            return mount.wanted
    return None


def mounts_of(job: Job, settings: Settings) -> tuple[VolumeMount, ...]:
    """What the task mounts, and what the stack has every task mount."""
    return (*job.task.volumes, *settings.auto_mounts)


def _mounts(job: Job, settings: Settings) -> Iterator[_Mount]:
    for wanted in mounts_of(job, settings):
        yield _Mount(wanted, job.mounted.get(wanted.name or ""))


def _source(
    job: Job, settings: Settings, mount: _Mount, index: int
) -> tuple[tuple[str, str], dict[str, object], Manifest | None]:
    """(what tells volumes apart, the source of the pod's volume, a claim to be made)."""
    wanted, volume = mount.wanted, mount.volume
    if wanted.size_gib is not None:
        spec = claim_spec(wanted.size_gib, wanted.access_mode, wanted.storage_class_name)
        if job.task.num_nodes == 1:
            template: dict[str, object] = {"spec": spec}
            if wanted.labels:
                template["metadata"] = {"labels": dict(wanted.labels)}
            return (
                ("ephemeral", str(index)),
                {"ephemeral": {"volumeClaimTemplate": template}},
                None,
            )
        # one claim for all ranks, so it cannot be a pod's own
        name = f"{job.name}-volume-{index}"
        claim = claim_manifest(job, settings, f"volume-{index}.yaml", name, wanted.labels, spec)
        return ("claim", name), {"persistentVolumeClaim": {"claimName": name}}, claim
    if volume is not None and volume.type == HOST_PATH:
        path = str(volume.host_path)
        folder = {"path": path, "type": "DirectoryOrCreate"}
        return ("host", path), {"hostPath": folder}, None
    name = claim_name(job.stack.set_name, volume) if volume is not None else str(wanted.name)
    return ("claim", name), {"persistentVolumeClaim": {"claimName": name}}, None


def claim_manifest(
    job: Job,
    settings: Settings,
    file: str,
    name: str,
    labels: Mapping[str, str],
    spec: Mapping[str, object],
    annotations: Mapping[str, str] | None = None,
) -> Manifest:
    """A PersistentVolumeClaim of the job."""
    body: dict[str, object] = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": metadata.object_metadata(
            job, settings, name, labels=labels, annotations=annotations
        ),
        "spec": dict(spec),
    }
    return Manifest(file, "object.yaml.j2", body)


def access_mode(wanted: VolumeMount, volume: Volume | None) -> str | None:
    """The access mode of what is mounted, None where nothing here says it."""
    if wanted.size_gib is not None:
        return wanted.access_mode or DEFAULT_ACCESS_MODE
    if volume is None or volume.type != PVC:
        return None
    return volume.access_mode or (None if volume.use_existing else DEFAULT_ACCESS_MODE)


def _faults(mount: _Mount, job: Job, settings: Settings) -> Iterator[Diagnostic]:
    wanted, volume = mount.wanted, mount.volume
    namespace = volume.namespace if volume is not None else None
    if volume is not None and namespace not in (None, settings.namespace):
        pods = f"`{settings.namespace}`" if settings.namespace else "that of the context"
        yield codes.VOLUME_NAMESPACE.at(
            wanted.origin.span(),
            f"the claim of `{volume.name}` is in the namespace `{namespace}`, the pods are "
            f"in {pods}",
            hint="set `namespace` of the target, or mount another volume",
            related=[Related("the volume", volume.origin.span("config", "namespace"))],
            target=job.target.key,
        )
    mode = access_mode(wanted, volume)
    if wanted in settings.auto_mounts and mode in ONE_NODE_MODES:
        yield model_mounts.VOLUME_ACCESS_MODE.at(
            wanted.origin.span(),
            f"`{wanted.name}` is {mode}, and mounted by every pod of the stack",
            hint="use a volume with `access_mode: ReadWriteMany`",
            target=job.target.key,
        )
    if wanted.size_gib is not None:
        problem = class_problem(wanted.storage_class_name, str(mode), job.target.options)
        if problem is not None:
            yield codes.STORAGE_CLASS.at(wanted.origin.span(), problem, target=job.target.key)


def class_problem(
    storage_class: str | None, mode: str, options: Mapping[str, object]
) -> str | None:
    """Why the class cannot give the mode, as far as the target's `storage_classes` say."""
    classes = options.get("storage_classes")
    if not isinstance(classes, Mapping) or storage_class == "":
        return None
    if storage_class is None:
        default = next(
            (
                str(name)
                for name, item in classes.items()
                if isinstance(item, Mapping) and item.get("default")
            ),
            None,
        )
        if default is None:
            return "no storage class is named, and none of the target's is the default"
        storage_class = default
    entry = classes.get(storage_class)
    if not isinstance(entry, Mapping):
        return f"the target has no storage class `{storage_class}`"
    modes = entry.get("access_modes")
    if isinstance(modes, list) and mode not in modes:
        known = ", ".join(str(item) for item in modes)
        return f"the storage class `{storage_class}` gives {known}, not {mode}"
    return None
