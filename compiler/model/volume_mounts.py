"""`volumes` of a task: named volumes, volumes made for the task, folders of the node."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping

from compiler.diagnostics import Related
from compiler.diagnostics.codes import model_mounts as codes
from compiler.model.builder import Builder
from compiler.model.labels import build_labels
from compiler.model.paths import remote_path
from compiler.model.resources import ResourceSet
from compiler.model.storage import FileMount, Storage, VolumeMount
from compiler.model.units import parse_claim_size
from compiler.source.paths import Path
from compiler.source.wording import listed, quoted

ACCESS_MODES = ("ReadWriteOnce", "ReadWriteOncePod", "ReadWriteMany", "ReadOnlyMany")
ONE_NODE_MODES = frozenset({"ReadWriteOnce", "ReadWriteOncePod"})
DEFAULT_ACCESS_MODE = "ReadWriteOnce"
EPHEMERAL_TYPE = "k8s-pvc"

_sub_path = re.compile(r"[a-zA-Z0-9._-][a-zA-Z0-9./_-]*")
_KINDS = ("size", "name", "host_path")
# What goes with the key that decides what the mount is.
_ALLOWED = {
    "size": ("size", "type", "labels", "config"),
    "name": ("name", "sub_path"),
    "host_path": ("host_path", "mode"),
}
_WHAT = {
    "size": "a volume made for the task",
    "name": "a named volume",
    "host_path": "a folder of the node",
}


def build_volume_mounts(
    b: Builder,
    value: object,
    resources: ResourceSet,
    num_nodes: int,
    files: Iterable[FileMount | Storage] = (),
) -> tuple[VolumeMount, ...]:
    """Read `volumes`; `files` are the mounts that have taken their paths already."""
    if value is None:
        return ()
    mounts: list[VolumeMount] = []
    seen: dict[str, Path] = {
        remote_path(item.destination): ("file_mounts", item.destination) for item in files
    }
    for place, entry in b.mapping(("volumes",), value).items():
        path: Path = ("volumes", place)
        _check_path(b, path, place, seen)
        if isinstance(entry, str) and entry:
            mounts.append(VolumeMount(place, name=entry, origin=b.origin(*path)))
            continue
        if not isinstance(entry, dict):
            b.unexpected(path, entry, "the name of a volume, or a map")
            continue
        kind = next((key for key in _KINDS if entry.get(key) is not None), None)
        if kind is None:
            b.report(
                codes.VOLUME_FORM,
                path,
                f"the mount at {quoted(place)} names no volume",
                at_key=True,
                expected="`name`, `size` or `host_path`",
            )
            continue
        _check_keys(b, path, entry, kind)
        if kind == "size":
            mounts.append(_ephemeral(b, path, place, entry, num_nodes))
        elif kind == "name":
            mounts.append(_named(b, path, place, entry))
        else:
            mounts.append(_host(b, path, place, entry, resources))
    return tuple(mounts)


def _check_path(b: Builder, path: Path, place: str, seen: dict[str, Path]) -> None:
    if not place.startswith(("/", "~")) or (place.endswith("/") and place != "~/"):
        b.report(
            codes.VOLUME_PATH,
            path,
            f"{quoted(place)} cannot be where a volume is mounted",
            at_key=True,
            expected="a path that starts with `/` or `~`, without a slash at the end",
        )
        return
    first = seen.setdefault(remote_path(place), path)
    if first is not path:
        b.report(
            codes.MOUNT_TWICE,
            path,
            f"two mounts at {quoted(remote_path(place))}",
            at_key=True,
            related=[Related("the first one", b.key_span(first))],
        )


def _check_keys(b: Builder, path: Path, entry: Mapping[str, object], kind: str) -> None:
    known = {key for keys in _ALLOWED.values() for key in keys}
    for key, item in entry.items():
        if key in _ALLOWED[kind] or item is None:
            continue
        if key in known:
            b.report(
                codes.VOLUME_KEYS,
                (*path, key),
                f"`{key}` means nothing for {_WHAT[kind]}",
                at_key=True,
                hint=f"leave out `{key}`, or `{kind}`",
                related=[Related(f"`{kind}` makes it {_WHAT[kind]}", b.key_span((*path, kind)))],
            )
        else:
            b.only_keys(codes.VOLUME_FORM, path, {key: item}, _ALLOWED[kind])


def _named(b: Builder, path: Path, place: str, entry: Mapping[str, object]) -> VolumeMount:
    sub_path = b.text((*path, "sub_path"), entry.get("sub_path"))
    if sub_path is not None and (not _sub_path.fullmatch(sub_path) or ".." in sub_path):
        b.report(
            codes.VOLUME_SUB_PATH,
            (*path, "sub_path"),
            f"{quoted(sub_path)} is no path inside a volume",
            expected="a relative path of letters, digits, `.`, `_`, `-` and `/`, without `..`",
        )
    name = b.text((*path, "name"), entry.get("name"))
    return VolumeMount(place, name=name, sub_path=sub_path, origin=b.origin(*path))


def _ephemeral(
    b: Builder, path: Path, place: str, entry: Mapping[str, object], num_nodes: int
) -> VolumeMount:
    kind = b.text((*path, "type"), entry.get("type")) or EPHEMERAL_TYPE
    if kind != EPHEMERAL_TYPE:
        b.unexpected((*path, "type"), kind, EPHEMERAL_TYPE)
    config = b.mapping((*path, "config"), entry.get("config"))
    mode = b.text((*path, "config", "access_mode"), config.get("access_mode"))
    if mode is not None and mode not in ACCESS_MODES:
        b.unexpected((*path, "config", "access_mode"), mode, listed(ACCESS_MODES))
    elif num_nodes > 1 and (mode or DEFAULT_ACCESS_MODE) in ONE_NODE_MODES:
        b.report(
            codes.VOLUME_ACCESS_MODE,
            (*path, "config", "access_mode") if mode else path,
            f"{mode or DEFAULT_ACCESS_MODE + ' (the default)'} is for one node, "
            f"the task has {num_nodes}",
            at_key=mode is None,
            hint="set `config: {access_mode: ReadWriteMany}` with a storage class that can do it",
        )
    size = b.parsed(codes.VOLUME_SIZE, (*path, "size"), parse_claim_size, entry["size"])
    if size is not None and size[1]:
        report_rounded(b, (*path, "size"), size[0])
    return VolumeMount(
        place,
        size_gib=size[0] if size else None,
        type=kind,
        labels=build_labels(b, (*path, "labels"), entry.get("labels"), "kubernetes"),
        access_mode=mode,
        storage_class_name=b.text(
            (*path, "config", "storage_class_name"), config.get("storage_class_name")
        ),
        origin=b.origin(*path),
    )


def _host(
    b: Builder, path: Path, place: str, entry: Mapping[str, object], resources: ResourceSet
) -> VolumeMount:
    folder = b.text((*path, "host_path"), entry.get("host_path")) or ""
    if not folder.startswith("/") or posixpath.normpath(folder).strip("/") == "":
        b.report(
            codes.HOST_PATH,
            (*path, "host_path"),
            f"{quoted(folder)} is no folder that can be mounted",
            expected="an absolute path other than `/`",
        )
    mode = b.text((*path, "mode"), entry.get("mode")) or "ro"
    if mode not in ("ro", "rw"):
        b.unexpected((*path, "mode"), mode, "ro or rw")
    elsewhere = next((item for item in resources.candidates if item.infra.cloud != "slurm"), None)
    if elsewhere is not None:
        b.report(
            codes.HOST_PATH_NEEDS_SLURM,
            (*path, "host_path"),
            "a folder of the node can be mounted on Slurm only",
            at_key=True,
            hint="name Slurm in every alternative: `infra: slurm`",
            related=[Related("not on Slurm", elsewhere.origin_of("infra").span())],
        )
    return VolumeMount(place, host_path=folder, host_mode=mode, origin=b.origin(*path))


def report_rounded(b: Builder, path: Path, size_gib: int) -> None:
    b.report(
        codes.VOLUME_SIZE_ROUNDED,
        path,
        f"volumes have whole GiB, this becomes {size_gib}Gi",
        hint=f"write {size_gib}Gi",
    )
