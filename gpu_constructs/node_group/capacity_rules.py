"""How the way in which nodes are bought fits what they are and where. Imports no aws_cdk."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from gpu_constructs.capacity import Capacity, Reservation, timestamp, window
from gpu_constructs.checks import UNKNOWN, Problem, Unknown
from gpu_constructs.network import placement_rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_constructs.instances.catalog import GpuInstance
    from gpu_constructs.network.subnets import Zone

# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html: AWS terminates instances from 30 minutes
# before the end; the user must empty an UltraServer 60 minutes before it. A quarter of an hour stays for what they run.
_LEAD: Final = timedelta(minutes=45)
_LEAD_OF_ULTRASERVERS: Final = timedelta(minutes=75)
_ULTRASERVER_FAMILIES: Final = ("p6e-",)
_LARGEST_BLOCK: Final = 64


def placed_together(capacity: Capacity, instance: GpuInstance) -> bool:
    """Whether nodes that train together get a placement group by default.

    Not where capacity is reserved: a reservation is in its own placement group or in none, and a block needs none.
    """
    return not capacity.limited and placement_rules.can_be_close(instance)


def leave_at(capacity: Capacity, instance: GpuInstance) -> datetime | None:
    """Return when nodes must begin to leave a Capacity Block, if it is known when it ends."""
    _, end = window(capacity)
    return end and end - _lead(instance)


def type_problems(capacity: Capacity, instance: GpuInstance) -> list[Problem]:
    """Say why an instance type cannot be bought in this way; nothing if it can.

    Args:
        capacity: One for which `gpu_constructs.capacity.problems` finds nothing.
        instance: The type.
    """
    wanted = {"spot": "spot", "capacity-block": "capacity-block"}.get(capacity.market)
    found = []
    if wanted and wanted not in instance.usage_classes:
        found.append(
            Problem(
                what="capacity",
                given=f"{_call(capacity)} for {instance.name!r}",
                allowed=f"one of the usage classes of the type ({', '.join(instance.usage_classes)})",
                remedy="choose another type or capacity; for newer hardware state usage_classes in GpuInstance(...)",
            )
        )
    found += _window_problems(capacity, instance)
    if isinstance(capacity.target, Reservation):
        found += _reservation_problems(capacity, capacity.target, instance)
    return found


def placement_problems(capacity: Capacity, *, given: bool) -> list[Problem]:
    """Say why nodes bought in this way cannot be in a placement group; nothing if they can.

    Args:
        capacity: How nodes are bought.
        given: Whether a placement group was given beside the capacity.
    """
    if not given or capacity.market != "reservation":
        return []
    return [
        Problem(
            what="placement_group",
            given=f"one beside {_call(capacity)}",
            allowed="that in which the reservation was created",
            remedy="pass it as Capacity.reservation(..., placement_group=...) if it is that one, else leave it out",
            prevents="InsufficientInstanceCapacity",
        )
    ]


def placement_doubts(capacity: Capacity, *, given: bool) -> dict[str, str]:
    """Say what looks wrong about a placement group, by the code of the warning."""
    if given and capacity.market == "capacity-block":
        return {"blockPlacement": "a Capacity Block needs no placement group, and one may leave nodes without capacity"}
    if capacity.placement_group and isinstance(capacity.target, Reservation) and not capacity.target.in_placement_group:
        return {
            "reservationPlacement": "the reservation is not created in a placement group (placement_group_arn), so "
            "nodes in the one given may find no capacity in it"
        }
    return {}


def group_problems(
    capacity: Capacity, zones: Sequence[Zone], *, types: int, min_capacity: int | Unknown
) -> list[Problem]:
    """Say why a group cannot buy its nodes in this way; nothing if it can.

    Args:
        capacity: How nodes are bought.
        zones: The Availability Zones of its subnets, as far as they are known.
        types: How many instance types it mixes.
        min_capacity: Fewest nodes.
    """
    found = []
    if capacity.market in {"reservation", "capacity-block"}:
        if types > 1:
            found.append(_one_type(capacity, types))
        if len(zones) > 1:
            found.append(_one_zone(capacity, zones))
    if capacity.start or capacity.end:
        found += _floor_problems(min_capacity)
    if isinstance(capacity.target, Reservation):
        found += _zone_problems(capacity.target, zones)
    return found


def zone_doubts(capacity: Capacity, *, chosen: bool) -> dict[str, str]:
    """Say what looks wrong about the zone of a VPC that is yet to be created, by the code of the warning.

    Args:
        capacity: How nodes are bought.
        chosen: Whether the zone is one that was asked for, not the first of the account.
    """
    if chosen or capacity.market not in {"reservation", "capacity-block"}:
        return {}
    return {
        "reservationZone": "the cluster is in the first zone of the account, which need not be that of the reserved "
        "capacity; pass as availability_zone the one that aws ec2 describe-capacity-reservations shows"
    }


def group_doubts(capacity: Capacity, *, types: int, placed: bool, max_capacity: int | Unknown) -> dict[str, str]:
    """Say what looks wrong about a group, by the code of the warning."""
    found = {}
    if placed and types > 1:
        found["mixedPlacement"] = (
            "several instance types in one cluster placement group are less likely to find capacity: "
            "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html#placement-groups-cluster"
        )
    if max_capacity is UNKNOWN:
        return found
    if capacity.market == "capacity-block" and max_capacity > _LARGEST_BLOCK:
        found["blockSize"] = f"{max_capacity} nodes of one Capacity Block; AWS sells blocks of up to {_LARGEST_BLOCK}"
    reserved = capacity.target.instance_count if isinstance(capacity.target, Reservation) else UNKNOWN
    if reserved is not UNKNOWN and max_capacity > reserved:
        found["reservationSize"] = f"the group may have {max_capacity} nodes, the reservation holds {reserved}"
    return found


def warm_pool_problems(capacity: Capacity) -> list[Problem]:
    """Say why a group cannot have a warm pool; nothing if it can."""
    if capacity.market != "capacity-block":
        return []
    return [
        Problem(
            what="warm pool",
            given=f"one with {_call(capacity)}",
            allowed="left out: Auto Scaling supports none with a Capacity Block",
            remedy="remove the warm pool; a block is paid for its whole window, so run its nodes",
        )
    ]


def _lead(instance: GpuInstance) -> timedelta:
    return _LEAD_OF_ULTRASERVERS if instance.name.startswith(_ULTRASERVER_FAMILIES) else _LEAD


def _window_problems(capacity: Capacity, instance: GpuInstance) -> list[Problem]:
    start, end = window(capacity)
    if start is None or end is None or end - _lead(instance) > start:
        return []
    minutes = _lead(instance) // timedelta(minutes=1)
    return [
        Problem(
            what="capacity end",
            given=f"{timestamp(end)}, with a start of {timestamp(start)}",
            allowed=f"more than {minutes} minutes after start: so long before it the nodes leave",
            remedy="pass StartDate and EndDate of aws ec2 describe-capacity-reservations",
        )
    ]


def _reservation_problems(capacity: Capacity, reservation: Reservation, instance: GpuInstance) -> list[Problem]:
    found = []
    if reservation.instance_type is not UNKNOWN and reservation.instance_type != instance.name:
        found.append(
            Problem(
                what="instance_type",
                given=f"{instance.name!r}, with a reservation for {reservation.instance_type!r}",
                allowed="that of the reservation",
                remedy="correct one of them; a reservation's type cannot be changed later",
            )
        )
    if reservation.tenancy not in {"default", UNKNOWN}:
        found.append(
            Problem(
                what="capacity",
                given=f"a reservation of tenancy {reservation.tenancy!r}",
                allowed='one of tenancy "default", which these nodes have',
                remedy='create the reservation with tenancy "default"',
            )
        )
    # What Ubuntu Pro and the like are called is not known, so that only what is surely another one is refused.
    if reservation.platform is not UNKNOWN and reservation.platform.startswith("Windows"):
        found.append(
            Problem(
                what="capacity",
                given=f"a reservation of platform {reservation.platform!r}",
                allowed='one of platform "Linux/UNIX", which these nodes run',
                remedy='create the reservation with instance_platform "Linux/UNIX"',
            )
        )
    if reservation.in_placement_group and capacity.placement_group is None:
        found.append(
            Problem(
                what="capacity placement_group",
                given="none, with a reservation that is created in one",
                allowed="that of the reservation",
                remedy="pass it as Capacity.reservation(..., placement_group=...)",
                prevents="InsufficientInstanceCapacity",
            )
        )
    return found


def _one_type(capacity: Capacity, types: int) -> Problem:
    return Problem(
        what="instance_types",
        given=f"{types} with {_call(capacity)}",
        allowed="one: it holds one type, and Auto Scaling supports no mixed instances with a Capacity Block",
        remedy="make a group for each type, or use Capacity.reservation_group(...) for reservations of several",
    )


def _one_zone(capacity: Capacity, zones: Sequence[Zone]) -> Problem:
    return Problem(
        what="vpc_subnets",
        given=f"subnets in {len(zones)} zones ({', '.join(map(str, zones))}) with {_call(capacity)}",
        allowed="subnets of one zone, that of the reservation",
        remedy="select the subnets of the zone that aws ec2 describe-capacity-reservations shows",
    )


def _floor_problems(min_capacity: int | Unknown) -> list[Problem]:
    if min_capacity in {0, UNKNOWN}:
        return []
    return [
        Problem(
            what="min_capacity",
            given=f"{min_capacity}, with a Capacity Block that starts or ends at a time",
            allowed="0: there are no nodes before the block and after it",
            remedy="leave min_capacity out; desired_capacity is what the group has while the block runs",
            prevents="ValidationError: Desired capacity must be between the specified min size and max size",
        )
    ]


def _zone_problems(reservation: Reservation, zones: Sequence[Zone]) -> list[Problem]:
    wanted = reservation.zone
    others = [zone for zone in zones if wanted and zone.literal and wanted.literal and zone != wanted]
    if not others:
        return []
    return [
        Problem(
            what="availability_zone",
            given=f"{', '.join(map(str, others))}, with a reservation in {wanted}",
            allowed="that of the reservation",
            remedy="use the subnets of its zone, or reserve in another one",
        )
    ]


def _call(capacity: Capacity) -> str:
    """Return how the user wrote it, shortened."""
    return f"Capacity.{capacity.market.replace('-', '_')}(...)"
