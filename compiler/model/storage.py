"""Files and volumes of a task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.model.origin import Origin


@dataclass(frozen=True, slots=True)
class LocalWorkdir:
    """A folder whose contents become the working directory; `path` as the user wrote it."""

    path: str
    origin: Origin = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class GitWorkdir:
    url: str
    ref: str | None
    origin: Origin = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class FileMount:
    """`destination: source`, the source being a local path or a URL."""

    destination: str
    source: str
    origin: Origin = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Storage:
    """A storage object mounted at `destination`; `mode` is MOUNT, COPY or MOUNT_CACHED."""

    destination: str
    name: str | None
    source: str | tuple[str, ...] | None
    store: str | None
    mode: str
    persistent: bool
    type: str | None
    config: Mapping[str, object]
    origin: Origin = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class VolumeMount:
    """A mount of a named volume, an ephemeral claim (`size_gib` set) or a host path."""

    path: str
    name: str | None = None
    sub_path: str | None = None
    size_gib: int | None = None
    type: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    access_mode: str | None = None
    storage_class_name: str | None = None
    host_path: str | None = None
    host_mode: str = "ro"
    origin: Origin = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Volume:
    """A volume document: something that outlives tasks. `size_gib` in GiB."""

    name: str
    type: str
    infra: str | None
    size_gib: int | None
    use_existing: bool
    labels: Mapping[str, str]
    access_mode: str | None
    storage_class_name: str | None
    namespace: str | None
    host_path: str | None
    cleanup_on_deletion: bool
    config: Mapping[str, object]
    origin: Origin = field(compare=False, repr=False)
