"""Capacity that is paid for already, and where it is: reservations and capacity blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from compiler.catalog import InstanceType
from compiler.diagnostics import Diagnostic
from compiler.diagnostics.codes import aws as codes
from compiler.model import Resources, TargetSpec
from compiler.targets.aws.options import AwsOptions, Reserved


@dataclass(frozen=True, slots=True)
class Reservation:
    """`is_block` for a capacity block, whose instances AWS itself places near each other.

    `zone` and `placement_group` are None where the stack does not name them; `key` is the
    target's, and `name` the entry of it that fits the instance type.
    """

    id: str
    zone: str | None
    placement_group: str | None
    is_block: bool
    key: str
    name: str


def reservation_of(
    resources: Resources, instance: InstanceType, options: AwsOptions
) -> Reservation | None:
    """What the target has reserved for the type, else for its family; a block comes first.

    Spot instances are in none.
    """
    if resources.use_spot:
        return None
    for name in (instance.name, instance.family):
        if found := options.capacity_blocks.get(name):
            return _reservation(found, "capacity_blocks", name)
        if found := options.reservations.get(name):
            return _reservation(found, "reservations", name)
    return None


def _reservation(found: Reserved, key: str, name: str) -> Reservation:
    is_block = key == "capacity_blocks"
    return Reservation(found.id, found.zone, found.placement_group, is_block, key, name)


def wrong_zone(
    resources: Resources, reservation: Reservation | None, target: TargetSpec
) -> Iterator[Diagnostic]:
    """A task that wants to be where its reservation is not."""
    wanted = resources.infra.zone
    if reservation is None or None in (wanted, reservation.zone) or wanted == reservation.zone:
        return
    yield codes.RESERVATION_ZONE.at(
        resources.origin_of("infra").span(),
        f"{reservation.id} is in {reservation.zone}, the task asks for {wanted}",
        hint="leave the zone out",
        target=target.key,
    )


def doubts(
    resources: Resources,
    reservation: Reservation | None,
    options: AwsOptions,
    target: TargetSpec,
    *,
    packed: bool,
) -> Iterator[Diagnostic]:
    """What the stack does not say of a reservation: its zone, or (where instances are to be
    `packed`) its placement group."""
    if reservation is None:
        return
    span = target.origin.span(reservation.key, reservation.name)
    zones = (resources.infra.zone, reservation.zone)
    if zones == (None, None) and len(options.subnets) != 1:
        yield codes.RESERVATION_ZONE.at(
            span,
            f"the zone of {reservation.id} is not known",
            hint=f"`{reservation.name}: {{id: {reservation.id}, zone: {options.region}a}}`",
            target=target.key,
        )
    if packed and not reservation.is_block and reservation.placement_group is None:
        yield codes.RESERVATION_SPREAD.at(
            span,
            f"{reservation.id} names no placement group",
            hint="reserve in a cluster placement group, and name it: `placement_group: ...`",
            target=target.key,
        )
