"""Which instance type a candidate gets on an AWS target."""

from __future__ import annotations

from dataclasses import dataclass

from compiler.catalog import Choice, InstanceType, NoChoice, price
from compiler.catalog import choose_instance as choose_from_catalog
from compiler.diagnostics.codes import aws as codes
from compiler.model import Resources, TargetSpec
from compiler.targets.aws.options import region_of


@dataclass(frozen=True, slots=True)
class Efa:
    """`first` and `end` (exclusive): the network cards that get an EFA interface."""

    first: int
    end: int

    @property
    def count(self) -> int:
        return self.end - self.first


def efa_of(instance: InstanceType) -> Efa | None:
    """The cards of an instance type that take EFA; card 0 is left out where it does not."""
    if not instance.efa_interfaces:
        return None
    first = 0 if instance.efa_on_card0 else 1
    return Efa(first, first + instance.efa_interfaces)


def wants_efa(resources: Resources) -> bool:
    """Whether `network_tier: best` means EFA: it does not for tasks that only ask for CPUs."""
    return resources.network_tier == "best" and (
        resources.accelerator is not None or resources.instance_type is not None
    )


def select_instance(resources: Resources, target: TargetSpec) -> Choice | NoChoice:
    """The cheapest fitting type, with EFA where it is wanted; else why there is none."""
    region = region_of(target)
    chosen = choose_from_catalog(resources, region)
    if isinstance(chosen, NoChoice) or not wants_efa(resources):
        return chosen
    for instance in (chosen.instance, *chosen.others):
        if instance.efa_interfaces:
            return Choice(instance, price(instance.name, region))
    return NoChoice(
        codes.EFA_MISSING,
        "network_tier",
        f"{chosen.instance.name} has no EFA interface",
        "leave `network_tier` out, or ask for an instance type with EFA",
    )


def choose_instance(resources: Resources, target: TargetSpec) -> Choice | None:
    """The choice with its price for one node, None where no type fits."""
    chosen = select_instance(resources, target)
    return chosen if isinstance(chosen, Choice) else None
