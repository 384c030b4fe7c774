"""How GPU nodes are bought. Imports no aws_cdk.

    Capacity.spot(on_demand_base=1)
    Capacity.capacity_block("cr-0123456789abcdef0", start=start, end=end)

Market type, placement group, sizes and settings of the group follow from it, so that they cannot contradict each other.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, time, timedelta, timezone
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING, Final, Literal

from gpu_constructs.checks import UNKNOWN, Problem, Unknown, whole_number

if TYPE_CHECKING:
    from aws_cdk import aws_ec2 as ec2

    from gpu_constructs.network.subnets import Zone

Market = Literal["on-demand", "spot", "reservation", "reservation-group", "capacity-block"]

_RESERVATION_ID: Final = re.compile(r"cr-[0-9a-f]{8,17}")
_GROUP_ARN: Final = re.compile(r"arn:aws[a-z-]*:resource-groups:[a-z0-9-]+:[0-9]{12}:group/.+")
_LEAST_PRICE: Final = Decimal("0.001")
_BLOCK_ENDS: Final = time(11, 30)
_LONGEST_BLOCK: Final = timedelta(days=182)


@dataclass(frozen=True, kw_only=True)
class Reservation:
    """What synth knows about a capacity reservation of the same app.

    Args:
        instance_type: Its instance type.
        zone: Its Availability Zone, if it is named.
        tenancy: "default" or "dedicated".
        instance_count: Instances that it holds.
        in_placement_group: Whether it was created in a placement group.
        platform: Its operating system in EC2's words.
    """

    instance_type: str | Unknown
    zone: Zone | None
    tenancy: str | Unknown
    instance_count: int | Unknown
    in_placement_group: bool
    platform: str | Unknown = "Linux/UNIX"


@dataclass(frozen=True, kw_only=True)
class Capacity:
    """How nodes are bought; made by the methods below, not by hand.

    Args:
        market: Which of them.
        target: The reservation, block or resource group; `None` where none is targeted.
        placement_group: The placement group of the reservation, if it was created in one.
        on_demand_base: Nodes bought on demand before any is bought as spot.
        max_price: The most that a spot node may cost, in USD an hour.
        start: When the block starts.
        end: When the block ends.
    """

    market: Market
    target: str | ec2.CfnCapacityReservation | Reservation | Unknown | None = None
    placement_group: ec2.IPlacementGroup | None = None
    on_demand_base: int | Unknown = 0
    max_price: str | float | Decimal | Unknown | None = None
    start: datetime | None = None
    end: datetime | None = None

    @property
    def limited(self) -> bool:
        """Whether there are only as many nodes as were reserved, so that none can be had early as a replacement."""
        return self.market in {"reservation", "reservation-group", "capacity-block"}

    @classmethod
    def on_demand(cls) -> Capacity:
        """Nodes at the on-demand price, whenever AWS has them.

        They use open capacity reservations that match them, as AWS does by default.
        """
        return cls(market="on-demand")

    @classmethod
    def spot(cls, on_demand_base: int = 0, max_price: str | float | Decimal | None = None) -> Capacity:
        """Spare nodes for less, which AWS takes back with two minutes' notice; they are then terminated.

        The group takes them from the pools that are least likely to be interrupted and cheap ("price-capacity-
        optimized"), and replaces a node early when AWS recommends it. New accounts have a spot quota of 0 vCPUs for GPU
        types. Spot is asked for by the group alone: a launch template that asked for it too would be refused beside
        the group's mixed instances policy.

        Args:
            on_demand_base: Nodes bought on demand before any is bought as spot. By default none.
            max_price: The most that a node may cost, in USD an hour, more than 0.001. By default the on-demand price is
                the limit; AWS advises against one, since it leads to more interruptions.

        See https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-mixed-instances-groups.html
        """
        return cls(market="spot", on_demand_base=on_demand_base, max_price=max_price)

    @classmethod
    def reservation(
        cls, id: str | ec2.CfnCapacityReservation, placement_group: ec2.IPlacementGroup | None = None
    ) -> Capacity:
        """Nodes from one on-demand capacity reservation, and from nowhere else: where it is full, none starts.

        The nodes are in no placement group but that of the reservation: one forced on them finds no capacity there.

        Args:
            id: The reservation, "cr-...", or the resource of the same app. Type, zone and tenancy of the latter are
                compared with the nodes', and a `TrainingCluster` takes its zone.
            placement_group: The placement group in which the reservation was created, if it was.

        See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-launch.html
        """
        return cls(market="reservation", target=id, placement_group=placement_group)

    @classmethod
    def reservation_group(cls, arn: str) -> Capacity:
        """Nodes from a resource group of capacity reservations; where they are full, EC2 starts nodes on demand.

        The nodes are in no placement group: EC2 then uses reservations in and outside of placement groups alike.

        Args:
            arn: The resource group, "arn:aws:resource-groups:...:group/...", of the service-linked type
                AWS::EC2::CapacityReservationPool.

        See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/create-cr-group.html
        """
        return cls(market="reservation-group", target=arn)

    @classmethod
    def capacity_block(
        cls, reservation_id: str, start: datetime | None = None, end: datetime | None = None
    ) -> Capacity:
        """Nodes from a Capacity Block for ML, paid up front for its whole window.

        The nodes are in one zone and in no placement group, which a block does not need. At `start` the group grows
        from none to the nodes wanted. AWS terminates what still runs 30 minutes before `end`, so the group shrinks to
        none 45 minutes before it, which leaves 15 for a last checkpoint. UltraServers must be empty 60 minutes before
        it: there it shrinks 75 minutes before. A topic is told when the block is about to expire.

        Auto Scaling refuses an action in the past: deploy before `start`, or leave `start` out once the block runs, and
        `end` out, or the capacity itself changed, once it is over.

        Args:
            reservation_id: The block, "cr-...".
            start: When it starts, with a time zone. By default the group has all nodes at once.
            end: When it ends, with a time zone. By default AWS terminates the nodes without a word to the group.

        See https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-template-capacity-blocks.html
        """
        return cls(market="capacity-block", target=reservation_id, start=start, end=end)


def problems(capacity: Capacity) -> list[Problem]:
    """Say what AWS would refuse about it, whatever the nodes are; values known only at deploy time are not judged."""
    return [
        *whole_number(
            "capacity on_demand_base",
            capacity.on_demand_base,
            minimum=0,
            remedy="pass a number of nodes, or leave it out",
        ),
        *_price_problems(capacity.max_price),
        *_target_problems(capacity),
        *_window_problems(capacity),
    ]


def doubts(capacity: Capacity) -> dict[str, str]:
    """Say what looks wrong but is not known to be refused, by the code of the warning."""
    start, end = window(capacity)
    found = {}
    if end and end.astimezone(timezone.utc).time() != _BLOCK_ENDS:
        found["blockEnd"] = (
            f"capacity block ends at {timestamp(end)}; Capacity Blocks end at 11:30 UTC "
            "(aws ec2 describe-capacity-reservations names the end)"
        )
    if start and end and end - start > _LONGEST_BLOCK:
        found["blockLength"] = f"capacity block lasts {(end - start).days} days; AWS sells Capacity Blocks of up to 182"
    return found


def window(capacity: Capacity) -> tuple[datetime | None, datetime | None]:
    """Return start and end; where they are not moments, or not in this order, nothing."""
    start, end = (_aware(moment) for moment in (capacity.start, capacity.end))
    return (None, None) if start and end and end <= start else (start, end)


def timestamp(moment: datetime) -> str:
    """Return a moment as Auto Scaling writes it."""
    return moment.astimezone(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def price(max_price: str | float | Decimal) -> str:
    """Return a price as Auto Scaling takes it: without an exponent."""
    return max_price if isinstance(max_price, str) else format(Decimal(str(max_price)), "f")


def _price_problems(max_price: object) -> list[Problem]:
    if max_price is None or max_price is UNKNOWN:
        return []
    try:
        number = Decimal("NaN") if isinstance(max_price, bool) else Decimal(str(max_price))
    except InvalidOperation:
        number = Decimal("NaN")
    # What Python reads as a number may still have an exponent or underscores, which AWS does not.
    plain = not isinstance(max_price, str) or re.fullmatch(r"[0-9]+(\.[0-9]+)?", max_price)
    if plain and number.is_finite() and number >= _LEAST_PRICE:
        return []
    return [
        Problem(
            what="capacity max_price",
            given=repr(max_price),
            allowed="a decimal number of at least 0.001 USD an hour",
            remedy='leave it out to pay the spot price up to the on-demand price, or write it as in "12.50"',
        )
    ]


def _target_problems(capacity: Capacity) -> list[Problem]:
    target = capacity.target
    if capacity.market == "reservation-group" and target is not UNKNOWN and not _matches(_GROUP_ARN, target):
        return [
            Problem(
                what="capacity arn",
                given=repr(target),
                allowed="the ARN of a resource group (arn:aws:resource-groups:REGION:ACCOUNT:group/NAME)",
                remedy="pass the GroupArn that aws resource-groups list-groups shows, or use Capacity.reservation(...) "
                "for one reservation",
            )
        ]
    if capacity.market == "capacity-block" and isinstance(target, Reservation):
        return [
            Problem(
                what="capacity reservation id",
                given="an on-demand capacity reservation of the same app",
                allowed="the id of a Capacity Block, which is bought and not created by CloudFormation",
                remedy="use Capacity.reservation(...) for it, or pass the id of a block",
                prevents="InvalidParameterValue: The market type (purchasing) option is not valid",
            )
        ]
    by_id = capacity.market in {"reservation", "capacity-block"} and not isinstance(target, Reservation)
    if by_id and target is not UNKNOWN and not _matches(_RESERVATION_ID, target):
        return [
            Problem(
                what="capacity reservation id",
                given=repr(target),
                allowed='"cr-" and 8 to 17 hexadecimal digits',
                remedy="pass the CapacityReservationId that aws ec2 describe-capacity-reservations shows, also for a "
                "Capacity Block that was bought",
            )
        ]
    return []


def _matches(pattern: re.Pattern[str], value: object) -> bool:
    return isinstance(value, str) and pattern.fullmatch(value) is not None


def _window_problems(capacity: Capacity) -> list[Problem]:
    given = {"start": capacity.start, "end": capacity.end}
    found = [
        Problem(
            what=f"capacity {what}",
            given=repr(moment),
            allowed="a datetime with a time zone",
            remedy="write it as in datetime(2027, 1, 31, 11, 30, tzinfo=timezone.utc)",
        )
        for what, moment in given.items()
        if moment is not None and _aware(moment) is None
    ]
    start, end = (_aware(moment) for moment in given.values())
    if start and end and end <= start:
        found.append(
            Problem(
                what="capacity end",
                given=f"{timestamp(end)}, with a start of {timestamp(start)}",
                allowed="after start",
                remedy="pass StartDate and EndDate of aws ec2 describe-capacity-reservations",
            )
        )
    return found


def _aware(moment: object) -> datetime | None:
    """Return a datetime that has a time zone, and nothing for anything else."""
    return moment if isinstance(moment, datetime) and moment.utcoffset() is not None else None
