"""A volume's document to a Volume."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Mapping

from compiler.diagnostics import Diagnostics
from compiler.diagnostics.codes import model_mounts as codes
from compiler.model.builder import Builder, combined
from compiler.model.infra import parse_infra
from compiler.model.labels import build_labels
from compiler.model.names import DNS_LABEL_LIMIT
from compiler.model.resources import Infra
from compiler.model.storage import Volume
from compiler.model.units import parse_claim_size
from compiler.model.volume_mounts import ACCESS_MODES, report_rounded
from compiler.source import Document, check
from compiler.source.paths import Path
from compiler.source.wording import listed, quoted

CLOUD_OF_TYPE: Mapping[str, str] = {
    "k8s-pvc": "kubernetes",
    "k8s-hostpath": "kubernetes",
    "runpod-network-volume": "runpod",
    "aws-ebs": "aws",
    "aws-efs": "aws",
    "aws-fsx-lustre": "aws",
}
"""The cloud that each type of volume exists on; the last three are triplane's own."""

_NO_SIZE = frozenset({"k8s-hostpath", "aws-efs"})
_RUNPOD_LEAST_GIB = 10
_label = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_subdomain = re.compile(rf"{_label}(?:\.{_label})*")


def build_volume(
    document: Document,
    diagnostics: Diagnostics,
    *,
    environ: Mapping[str, str] | None = None,
) -> Volume | None:
    """The volume of `document`, or None where it has errors (added to `diagnostics`)."""
    found = Diagnostics()
    is_sound = check(document, "volume", found)
    b = Builder(document, environ=os.environ if environ is None else environ)
    volume = _volume(b)
    diagnostics.extend(combined(found, b.diagnostics))
    return None if not is_sound or b.diagnostics.has_errors else volume


def _volume(b: Builder) -> Volume:
    get = b.data.get
    config = b.mapping(("config",), get("config"))
    kind = b.text(("type",), get("type")) or ""
    if kind not in CLOUD_OF_TYPE:
        b.unexpected(("type",), get("type"), listed(list(CLOUD_OF_TYPE)))
    infra = _infra(b, get("infra"), kind)
    use_existing = b.flag(("use_existing",), get("use_existing"), default=False)
    mode = b.text(("config", "access_mode"), config.get("access_mode"))
    if mode is not None and mode not in ACCESS_MODES:
        b.unexpected(("config", "access_mode"), mode, listed(ACCESS_MODES))
    return Volume(
        name=_name(b, get("name")),
        type=kind,
        infra=infra,
        size_gib=_size(b, get("size"), kind, use_existing),
        use_existing=use_existing,
        labels=build_labels(b, ("labels",), get("labels"), "kubernetes"),
        access_mode=mode,
        storage_class_name=b.text(
            ("config", "storage_class_name"), config.get("storage_class_name")
        ),
        namespace=b.text(("config", "namespace"), config.get("namespace")),
        host_path=_host_path(b, config.get("host_path"), kind),
        cleanup_on_deletion=b.flag(
            ("config", "cleanup_on_deletion"), config.get("cleanup_on_deletion"), default=False
        ),
        config=config,
        origin=b.origin(),
    )


def _name(b: Builder, value: object) -> str:
    path: Path = ("name",)
    name = b.text(path, value) or ""
    if len(name) > DNS_LABEL_LIMIT or not _subdomain.fullmatch(name):
        b.report(
            codes.VOLUME_NAME,
            path,
            f"{quoted(name)} cannot be the name of a volume" if name else "the volume has no name",
            expected=f"at most {DNS_LABEL_LIMIT} lower-case letters, digits, `-` and `.`",
        )
    return name


def _infra(b: Builder, value: object, kind: str) -> str | None:
    path: Path = ("infra",)
    text = b.text(path, value)
    infra = b.parsed(codes.VOLUME_INFRA, path, parse_infra, text) if text else None
    if text and "*" in text:
        b.report(
            codes.VOLUME_INFRA,
            path,
            "a volume is in one place, `*` names none",
            expected="`cloud/region/zone`",
        )
    cloud = CLOUD_OF_TYPE.get(kind)
    if infra is not None and cloud is not None and infra.cloud != cloud:
        b.report(
            codes.VOLUME_INFRA,
            path,
            f"there is no {kind} on {quoted(text or '')}",
            expected=f"{cloud}, or another `type`",
        )
    if kind == "runpod-network-volume" and (infra or Infra()).zone is None:
        b.report(
            codes.VOLUME_INFRA,
            path,
            "a RunPod volume needs a zone",
            expected="`runpod/<region>/<zone>`",
        )
    return text


def _size(b: Builder, value: object, kind: str, use_existing: bool) -> int | None:
    path: Path = ("size",)
    if value is None:
        if not use_existing and kind not in _NO_SIZE:
            b.report(
                codes.VOLUME_NEEDS_SIZE,
                (),
                "the volume has no size",
                at_key=True,
                hint="set `size`, or `use_existing: true` for one that is there already",
            )
        return None
    size = b.parsed(codes.VOLUME_SIZE, path, parse_claim_size, value)
    if size is None:
        return None
    if size[1]:
        report_rounded(b, path, size[0])
    if kind == "runpod-network-volume" and size[0] < _RUNPOD_LEAST_GIB:
        b.report(
            codes.VOLUME_SIZE,
            path,
            f"{size[0]} GiB is too little for a RunPod volume",
            expected=f"at least {_RUNPOD_LEAST_GIB} GiB",
        )
    return size[0]


def _host_path(b: Builder, value: object, kind: str) -> str | None:
    path: Path = ("config", "host_path")
    folder = b.text(path, value)
    if kind != "k8s-hostpath":
        if folder is not None:
            b.report(
                codes.HOST_PATH,
                path,
                f"`host_path` means nothing for a {kind}",
                at_key=True,
                hint="set `type: k8s-hostpath`, or leave it out",
            )
        return folder
    expected = "an absolute path other than `/`"
    if not folder:
        where: Path = ("config",) if "config" in b.data else ()
        message = "the k8s-hostpath volume has no `host_path`"
        b.report(codes.HOST_PATH, where, message, at_key=True, expected=expected)
    elif not folder.startswith("/") or not posixpath.normpath(folder).strip("/"):
        message = f"{quoted(folder)} is no folder that can be mounted"
        b.report(codes.HOST_PATH, path, message, expected=expected)
    return folder
