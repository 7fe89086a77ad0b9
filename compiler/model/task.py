"""A task, and the documents that hold several: pipelines and groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.model.origin import Origin
from compiler.model.resources import ResourceSet
from compiler.model.service import Pool, Service
from compiler.model.storage import FileMount, GitWorkdir, LocalWorkdir, Storage, VolumeMount


@dataclass(frozen=True, slots=True)
class Secret:
    """A secret's name, and its value if it was handed over; the value never prints."""

    name: str
    value: str | None = field(default=None, repr=False, compare=False)
    mount_path: str | None = None
    managed: bool = False


@dataclass(frozen=True, slots=True)
class Hook:
    """A script for `events` (stop, preemption, down); `timeout` in seconds."""

    run: str
    events: tuple[str, ...]
    timeout: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task, target-independent, with substitution and overrides already applied.

    `setup` and `run` are the user's bash text, untouched. `config` is the task's own layer
    of SkyPilot configuration (`hooks` and `triplane` taken out). `name` is None where the
    YAML names none; `workflow` then derives one from the file's name.
    """

    name: str | None
    num_nodes: int
    resources: ResourceSet
    workdir: LocalWorkdir | GitWorkdir | None = None
    setup: str | None = None
    run: str | None = None
    envs: Mapping[str, str] = field(default_factory=dict)
    secrets: Mapping[str, Secret] = field(default_factory=dict)
    file_mounts: tuple[FileMount, ...] = ()
    storage: tuple[Storage, ...] = ()
    volumes: tuple[VolumeMount, ...] = ()
    service: Service | None = None
    pool: Pool | None = None
    hooks: tuple[Hook, ...] = ()
    config: Mapping[str, object] = field(default_factory=dict)
    on_files_change: str | None = None
    native_script: str | None = None
    native_arguments: tuple[str, ...] = ()
    event_callback: str | None = None
    inputs: Mapping[str, float] = field(default_factory=dict)
    outputs: Mapping[str, float] = field(default_factory=dict)
    api_server_access: bool = True
    given: frozenset[str] = frozenset()
    origin: Origin = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Tasks that run one after the other."""

    name: str | None
    tasks: tuple[Task, ...]
    origin: Origin = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Group:
    """Tasks that run at the same time; delays in seconds by task name."""

    name: str
    tasks: tuple[Task, ...]
    primary_tasks: tuple[str, ...]
    termination_delay: Mapping[str, int]
    inter_connection: bool | None
    origin: Origin = field(compare=False, repr=False)
