"""What a task asks of one node, and its alternatives."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field

from compiler.model.origin import Origin


@dataclass(frozen=True, slots=True)
class Infra:
    """`infra: cloud/region/zone`; None stands for `*`.

    On Kubernetes `region` is the context (slashes included), on Slurm `region` is the
    cluster and `zone` the partition.
    """

    cloud: str | None = None
    region: str | None = None
    zone: str | None = None

    def __str__(self) -> str:
        parts = [self.cloud or "*", self.region, self.zone]
        while parts and parts[-1] is None:
            parts.pop()
        return "/".join(part or "*" for part in parts)


@dataclass(frozen=True, slots=True)
class Accelerator:
    """A device by its canonical name and the count per node (fractions are possible)."""

    name: str
    count: float

    def __str__(self) -> str:
        return f"{self.name}:{self.count:g}"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of vCPUs or of GiB; `at_least` is the dialect's `+`, `per_cpu` its `x` suffix."""

    value: float
    at_least: bool = False
    per_cpu: bool = False

    def __str__(self) -> str:
        return f"{self.value:g}{'x' * self.per_cpu}{'+' * self.at_least}"


@dataclass(frozen=True, slots=True)
class LocalDisk:
    mode: str | None
    size_gb: float | None
    at_least: bool


@dataclass(frozen=True, slots=True)
class JobRecovery:
    strategy: str | None = None
    max_restarts_on_errors: int = 0
    recover_on_exit_codes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Autostop:
    """Idle minutes until stop (or, with `down`, removal)."""

    idle_minutes: int
    down: bool = False
    wait_for: str = "jobs_and_ssh"


@dataclass(frozen=True, slots=True)
class Image:
    """`image_id`: a container image, a machine image, or one per region."""

    docker: str | None = None
    machine: str | None = None
    by_region: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """One candidate: what each node of the task must offer.

    None means "not given": defaults are the target's business. `cpus` in vCPUs, `memory`
    and `disk_size` in GiB. `given` are the dialect's keys that the user wrote for this
    candidate, in the item itself or in the outer map.
    """

    infra: Infra = Infra()
    accelerator: Accelerator | None = None
    cpus: Amount | None = None
    memory: Amount | None = None
    instance_type: str | None = None
    use_spot: bool = False
    max_hourly_cost: float | None = None
    disk_size: int | None = None
    disk_tier: str | None = None
    network_tier: str | None = None
    local_disk: LocalDisk | None = None
    ephemeral_storage: str | None = None
    ports: tuple[str, ...] = ()
    image: Image | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    accelerator_args: Mapping[str, object] = field(default_factory=dict)
    autostop: Autostop | None = None
    priority: int | None = None
    priority_class: str | None = None
    job_recovery: JobRecovery | None = None
    given: frozenset[str] = frozenset()
    origin: Origin = field(compare=False, repr=False)
    outer: Origin = field(compare=False, repr=False)
    where: Mapping[str, Origin] = field(default_factory=dict, compare=False, repr=False)

    def origin_of(self, key: str) -> Origin:
        """Where the dialect's `key` was written: in the item, else in the outer map."""
        return self.where.get(key, self.outer.child(key))


class Choice(enum.StrEnum):
    """How the candidates relate: the one, any of them, or in the order given."""

    ONE = "one"
    ANY_OF = "any_of"
    ORDERED = "ordered"


@dataclass(frozen=True, slots=True)
class ResourceSet:
    """All candidates of a task (at least one), in the order in which they were written."""

    choice: Choice
    candidates: tuple[Resources, ...]
    origin: Origin = field(compare=False, repr=False)
