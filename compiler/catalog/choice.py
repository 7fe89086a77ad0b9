"""Which AWS instance type a candidate of a task gets, or why none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from compiler.catalog import aws
from compiler.catalog.accelerators import resolve_accelerator
from compiler.catalog.aws import InstanceType
from compiler.diagnostics import Code, Diagnostic
from compiler.diagnostics.codes import catalog as codes
from compiler.model.resources import Accelerator, Resources


@dataclass(frozen=True, slots=True)
class Choice:
    """`instance` and its on-demand `price` in USD an hour (None: not in the catalogue).

    `others` fit as well, cheapest first.
    """

    instance: InstanceType
    price: float | None
    others: tuple[InstanceType, ...] = ()


@dataclass(frozen=True, slots=True)
class NoChoice:
    """Why no type fits; `key` is the key of `resources` that decided it."""

    code: Code
    key: str
    message: str
    hint: str | None = None

    def at(self, resources: Resources, target: str | None = None) -> Diagnostic:
        """The diagnostic, at the place where the key was written."""
        span = resources.origin_of(self.key).span()
        return self.code.at(span, self.message, hint=self.hint, target=target)


def choose_instance(resources: Resources, region: str) -> Choice | NoChoice:
    """The cheapest type of `region` that fits the candidate, or the one that it names."""
    if resources.instance_type is not None:
        return _named(resources, resources.instance_type, region)
    found: tuple[InstanceType, ...] | NoChoice
    if resources.accelerator is not None:
        found = _with_accelerator(resources, resources.accelerator, region)
    else:
        found = _general(resources, region)
    if isinstance(found, NoChoice):
        return found
    affordable = tuple(row for row in found if not _too_dear(row, resources, region))
    if not affordable:
        return _cost(resources, found[0], region)
    first, *others = affordable
    return Choice(first, aws.price(first.name, region), tuple(others))


def _general(resources: Resources, region: str) -> tuple[InstanceType, ...] | NoChoice:
    found = aws.instance_types(
        cpus=resources.cpus,
        memory=resources.memory,
        local_disk=resources.local_disk,
        region=region,
    )
    if found:
        return found
    key = next((key for key in ("cpus", "memory", "local_disk") if key in resources.given), "cpus")
    return NoChoice(
        codes.INSTANCE_TYPE_NONE_FITS,
        key,
        f"no instance type has {_asked(resources)}",
        _near_general(resources),
    )


def _with_accelerator(
    resources: Resources, asked: Accelerator, region: str
) -> tuple[InstanceType, ...] | NoChoice:
    resolution = resolve_accelerator(asked.name)
    if resolution.ambiguous:
        return NoChoice(
            codes.ACCELERATOR_AMBIGUOUS,
            "accelerators",
            f"accelerator `{asked.name}` fits several names",
            f"did you mean one of {', '.join(resolution.candidates)}?",
        )
    counts = aws.counts_of(asked.name)
    if not counts:
        near = [name for name in resolution.candidates if aws.counts_of(name)]
        return NoChoice(
            codes.ACCELERATOR_UNKNOWN,
            "accelerators",
            f"no AWS instance type has accelerator `{asked.name}`",
            f"did you mean {_either(near)}?" if near else None,
        )
    if not aws.instance_types(accelerator=asked.name, count=asked.count):
        return NoChoice(
            codes.ACCELERATOR_COUNT,
            "accelerators",
            f"no AWS instance type has {asked.count:g} {asked.name}",
            f"a node can have {_listed(counts)} of them",
        )
    found = aws.instance_types(
        accelerator=asked.name,
        count=asked.count,
        cpus=resources.cpus,
        memory=resources.memory,
        local_disk=resources.local_disk,
        region=region,
    )
    if found:
        return found
    types = aws.instance_types(accelerator=asked.name, count=asked.count, region=region)
    shown = ", ".join(
        f"{row.name} ({row.vcpus} vCPUs, {row.memory_gib:g} GiB)" for row in types[:3]
    )
    key = next(key for key in ("cpus", "memory", "local_disk") if getattr(resources, key))
    return NoChoice(
        codes.INSTANCE_TYPE_NONE_FITS,
        key,
        f"no instance type with {asked} has {_asked(resources)}",
        f"with {asked} there are {shown}",
    )


def _named(resources: Resources, name: str, region: str) -> Choice | NoChoice:
    row = aws.instance_type(name)
    if row is None:
        near = aws.nearest_instance_types(name)
        return NoChoice(
            codes.INSTANCE_TYPE_UNKNOWN,
            "instance_type",
            f"unknown instance type `{name}`",
            f"did you mean {_either(near)}?" if near else None,
        )
    if clash := _contradiction(resources, row):
        key, has = clash
        return NoChoice(
            codes.INSTANCE_TYPE_CONTRADICTION,
            key,
            f"`{name}` has {has}",
            f"remove `{key}` or `instance_type`",
        )
    if _too_dear(row, resources, region):
        return _cost(resources, row, region)
    return Choice(row, aws.price(name, region))


def _contradiction(resources: Resources, row: InstanceType) -> tuple[str, str] | None:
    asked = resources.accelerator
    if asked is not None and not (
        row.accelerator == resolve_accelerator(asked.name).name
        and abs(row.accelerator_count - asked.count) <= 0.01
    ):
        has = (
            f"{row.accelerator}:{row.accelerator_count:g}" if row.accelerator else "no accelerator"
        )
        return "accelerators", has
    if not aws.fits(row, resources.cpus, None, None):
        return "cpus", f"{row.vcpus} vCPUs"
    if not aws.fits(row, None, resources.memory, None):
        return "memory", f"{row.memory_gib:g} GiB of memory"
    if not aws.fits(row, None, None, resources.local_disk):
        disk = f"{row.local_disk_gb:g} GB of local {row.local_disk} disk"
        return "local_disk", disk if row.local_disk else "no local disk"
    return None


def _too_dear(row: InstanceType, resources: Resources, region: str) -> bool:
    limit = resources.max_hourly_cost
    if limit is None:
        return False
    usd = aws.price(row.name, region)
    return usd is not None and usd > limit


def _cost(resources: Resources, row: InstanceType, region: str) -> NoChoice:
    usd = aws.price(row.name, region)
    return NoChoice(
        codes.COST_ABOVE_LIMIT,
        "max_hourly_cost",
        f"{row.name} costs {usd:g} USD an hour, the limit is {resources.max_hourly_cost:g}",
    )


def _near_general(resources: Resources) -> str | None:
    """The same request with every number as a minimum."""
    sizes = [
        row
        for row in aws.general().values()
        if row.family in aws.GENERAL_FAMILIES
        and (resources.cpus is None or row.vcpus >= resources.cpus.value)
        and (
            resources.memory is None
            or row.memory_gib
            >= resources.memory.value * (row.vcpus if resources.memory.per_cpu else 1)
        )
        and aws.fits(row, None, None, resources.local_disk)
    ]
    if not sizes:
        return None
    row = min(sizes, key=lambda row: (row.vcpus, row.memory_gib, row.name))
    return f"the nearest is {row.name} with {row.vcpus} vCPUs and {row.memory_gib:g} GiB"


def _asked(resources: Resources) -> str:
    parts = []
    if resources.cpus:
        parts.append(f"{resources.cpus} vCPUs")
    if resources.memory:
        unit = "GiB a vCPU" if resources.memory.per_cpu else "GiB"
        parts.append(f"{str(resources.memory).replace('x', '')} {unit} of memory")
    if disk := resources.local_disk:
        size = "" if disk.size_gb is None else f" of {disk.size_gb:g}{'+' * disk.at_least} GB"
        parts.append(f"a local {disk.mode or 'ssd'} disk{size}")
    return " and ".join(parts)


def _listed(counts: tuple[float, ...]) -> str:
    *head, last = (f"{count:g}" for count in counts)
    return f"{', '.join(head)} or {last}" if head else last


def _either(names: Sequence[str]) -> str:
    return " or ".join(f"`{name}`" for name in names)
