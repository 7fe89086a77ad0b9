"""AWS instance types: what each one has, what it costs, and which ones fit a request.

Accelerated and general types are separate files, so that a request for one kind never reads
the other. Prices are on-demand Linux prices in USD an hour; no spot price is kept, because
they move hourly.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from functools import cache, lru_cache

from compiler.catalog.accelerators import DATA, resolve_accelerator
from compiler.model.resources import Amount, LocalDisk

# What an unset instance type of a CPU task may become; no Arm, whose images differ.
GENERAL_FAMILIES = ("m6i", "m6id", "m7i", "r6i", "r6id", "r7i", "c6i", "c6id", "c7i")
DEFAULT_CPUS = Amount(8, at_least=True)
DEFAULT_MEMORY = Amount(4, per_cpu=True)
DEFAULT_LOCAL_DISK_GB = 100

_REFERENCE_REGION = "us-east-1"


@dataclass(frozen=True, slots=True)
class InstanceType:
    """One type. `accelerator` is a canonical name; a count below 1 is a share of a device.

    `local_disk` is `nvme`, `ssd`, `hdd` or empty, `local_disk_gb` the sum in GB (10^9).
    `efa_on_card0` says whether network card 0 takes an EFA interface.
    """

    name: str
    arch: str
    vcpus: int
    memory_gib: float
    accelerator: str | None
    accelerator_count: float
    efa_interfaces: int
    network_cards: int
    efa_on_card0: bool
    local_disk_gb: float
    local_disk: str

    @property
    def family(self) -> str:
        """`p5` of `p5.48xlarge`."""
        return self.name.partition(".")[0]

    @property
    def is_metal(self) -> bool:
        return self.name.partition(".")[2].startswith("metal")


def _rows(file: str) -> dict[str, InstanceType]:
    types = {}
    for line in (DATA / file).read_text(encoding="utf-8").splitlines()[1:]:
        name, arch, vcpus, memory, accelerator, count, efa, cards, card0, disk_gb, disk = (
            line.split(",")
        )
        types[name] = InstanceType(
            name,
            arch,
            int(vcpus),
            float(memory),
            accelerator or None,
            float(count or 0),
            int(efa),
            int(cards),
            card0 == "yes",
            float(disk_gb),
            disk,
        )
    return types


@cache
def accelerated() -> dict[str, InstanceType]:
    return _rows("aws_accelerated.csv")


@cache
def general() -> dict[str, InstanceType]:
    return _rows("aws_general.csv")


@cache
def _prices() -> dict[tuple[str, str], float]:
    lines = (DATA / "aws_prices.csv").read_text(encoding="utf-8").splitlines()[1:]
    split = (line.split(",") for line in lines)
    return {(name, region): float(usd) for name, region, usd in split}


def instance_type(name: str) -> InstanceType | None:
    return accelerated().get(name) or general().get(name)


def nearest_instance_types(name: str) -> tuple[str, ...]:
    """Up to three names that an unknown one may have meant."""
    known = [*accelerated(), *general()]
    return tuple(difflib.get_close_matches(name, known, n=3, cutoff=0.6))


def price(name: str, region: str, spot: bool = False) -> float | None:
    """USD an hour of one instance, None where the catalogue does not know it."""
    return None if spot else _prices().get((name, region))


def _order(instance: InstanceType, region: str) -> tuple[float, bool, int, str]:
    # A region without a price list is ordered as the reference region is: the relations
    # between types are alike everywhere.
    known = price(instance.name, region)
    if known is None:
        known = price(instance.name, _REFERENCE_REGION)
    usd = float("inf") if known is None else known
    return usd, instance.is_metal, instance.vcpus, instance.name


@cache
def _unnamed_choices() -> tuple[InstanceType, ...]:
    """What a CPU task that names no type may get."""
    return tuple(row for row in general().values() if row.family in GENERAL_FAMILIES)


@lru_cache(maxsize=1024)
def instance_types(
    *,
    accelerator: str | None = None,
    count: float | None = None,
    cpus: Amount | None = None,
    memory: Amount | None = None,
    local_disk: LocalDisk | None = None,
    region: str = _REFERENCE_REGION,
) -> tuple[InstanceType, ...]:
    """All types that fit, cheapest first.

    With an accelerator (any spelling), its count must match exactly, and cpus and memory
    only count where given; without one, the general families are searched with at least 8
    vCPUs unless cpus or memory say otherwise, and 4 GiB a vCPU unless memory does.
    """
    if accelerator is None:
        if cpus is None and memory is None:
            cpus = DEFAULT_CPUS
        memory = memory or DEFAULT_MEMORY
        pool = list(_unnamed_choices())
    else:
        canonical = resolve_accelerator(accelerator).name
        pool = [
            row
            for row in accelerated().values()
            if row.accelerator == canonical
            and (count is None or abs(row.accelerator_count - count) <= 0.01)
        ]
    fitting = [row for row in pool if fits(row, cpus, memory, local_disk)]
    return tuple(sorted(fitting, key=lambda row: _order(row, region)))


def fits(
    row: InstanceType,
    cpus: Amount | None,
    memory: Amount | None,
    local_disk: LocalDisk | None,
) -> bool:
    """Whether a type has the vCPUs, memory and local disk asked for (None: anything)."""
    return _cpus_fit(row, cpus) and _memory_fits(row, memory) and _disk_fits(row, local_disk)


def _cpus_fit(row: InstanceType, asked: Amount | None) -> bool:
    if asked is None:
        return True
    return row.vcpus >= asked.value if asked.at_least else row.vcpus == asked.value


def _memory_fits(row: InstanceType, asked: Amount | None) -> bool:
    if asked is None:
        return True
    if asked.per_cpu:
        return row.memory_gib >= asked.value * row.vcpus
    if asked.at_least:
        return row.memory_gib >= asked.value
    return abs(row.memory_gib - asked.value) < 1


def _disk_fits(row: InstanceType, asked: LocalDisk | None) -> bool:
    if asked is None:
        return True
    if row.local_disk not in (("nvme",) if asked.mode == "nvme" else ("nvme", "ssd")):
        return False
    if asked.size_gb is None:
        return row.local_disk_gb >= DEFAULT_LOCAL_DISK_GB
    if asked.at_least:
        return row.local_disk_gb >= asked.size_gb
    return abs(row.local_disk_gb - asked.size_gb) <= 1


@cache
def counts_of(accelerator: str) -> tuple[float, ...]:
    """How many of this accelerator one AWS instance can have, ascending; () for none."""
    canonical = resolve_accelerator(accelerator).name
    return tuple(
        sorted(
            {
                row.accelerator_count
                for row in accelerated().values()
                if row.accelerator == canonical and canonical
            }
        )
    )
