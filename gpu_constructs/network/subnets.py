"""In which subnet, and so in which Availability Zone, a cluster lives. Imports no aws_cdk.

A cluster lives in one zone: EFA does not work across zones, a cluster placement group is in one zone, and a Lustre file
system is in one subnet. See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-limits
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gpu_constructs.checks import UNKNOWN, Problem, Unknown
from gpu_constructs.network.efa import Efa
from gpu_constructs.network.interface_rules import PUBLIC_ADDRESS_ERROR

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE_ZONE: Final = "You cannot specify multiple Availability Zones and a cluster placement group"
_NO_SUBNET: Final = "ValidationError: At least one Availability Zone or VPC Subnet is required"


@dataclass(frozen=True, kw_only=True)
class Zone:
    """An Availability Zone.

    Args:
        name: Its name, or a token that stands for it: equal tokens are equal zones.
        literal: Whether the name is known at synth.
    """

    name: str
    literal: bool = True

    def __str__(self) -> str:
        return self.name if self.literal else "one known only at deploy time"


@dataclass(frozen=True, kw_only=True)
class Subnet:
    """What the rules need to know about a subnet.

    Args:
        zone: Its Availability Zone; `UNKNOWN` where nothing says it.
        public: Whether it is a public subnet of the VPC.
        cidr: Its IPv4 block; `UNKNOWN` where nothing says it.
    """

    zone: Zone | Unknown
    public: bool
    cidr: str | Unknown = UNKNOWN


def choose(subnets: Sequence[Subnet], zone: Zone | None) -> int | Problem:
    """Return the index of the subnet that a cluster uses, or why there is none.

    Args:
        subnets: The candidates.
        zone: The zone that was asked for, if any. The first subnet of it is used.
    """
    if not subnets:
        return _empty()
    matching = [i for i, subnet in enumerate(subnets) if zone is None or subnet.zone in (zone, UNKNOWN)]
    if not matching:
        return _not_in_zone(subnets, zone)
    zones = _zones([subnets[i] for i in matching])
    if len(zones) > 1:
        return Problem(
            what="availability_zone",
            given=f"none, with subnets in {len(zones)} zones ({_join(zones)})",
            allowed="one of the zones of the subnets",
            remedy="pass the zone that has the instance type (aws ec2 describe-instance-type-offerings "
            "--location-type availability-zone), or subnets of one zone",
            prevents=ONE_ZONE,
        )
    return matching[0]


def group_problems(
    subnets: Sequence[Subnet], *, interface_count: int, placed_together: bool, instead: Efa | None = None
) -> list[Problem]:
    """Say why nodes cannot be spread over subnets; nothing if they can.

    Args:
        subnets: The subnets.
        interface_count: Network interfaces of a node.
        placed_together: Whether the nodes are in a cluster placement group.
        instead: How nodes of the type get along with one interface.
    """
    if not subnets:
        return [_empty()]
    problems = [
        problem
        for subnet in subnets
        for problem in public_problems(subnet, interface_count=interface_count, instead=instead)
    ]
    zones = _zones(subnets)
    if placed_together and len(zones) > 1:
        several = Problem(
            what="vpc_subnets",
            given=f"subnets in {len(zones)} zones ({_join(zones)}) for nodes in a placement group",
            allowed="subnets of one zone",
            remedy="select the subnets of one zone, or leave the placement group out",
            prevents=ONE_ZONE,
        )
        return [*problems[:1], several]
    return problems[:1]


def in_several_zones(subnets: Sequence[Subnet]) -> bool:
    """Return whether subnets are known to be in more than one zone."""
    return len(_zones(subnets)) > 1


def public_problems(subnet: Subnet, *, interface_count: int, instead: Efa | None = None) -> list[Problem]:
    """Say why nodes with several interfaces cannot live in a subnet; nothing if they can.

    Args:
        subnet: The subnet.
        interface_count: Network interfaces of a node, EFA-only ones among them.
        instead: How nodes of the type get along with one interface.
    """
    if not subnet.public or interface_count == 1:
        return []
    return [
        Problem(
            what="vpc_subnets",
            given=f"a public subnet for nodes with {interface_count} network interfaces",
            allowed="a private subnet with egress: EC2 gives such a node no public address, so it would be cut off",
            remedy=public_remedy(instead),
            prevents=PUBLIC_ADDRESS_ERROR,
        )
    ]


def public_remedy(instead: Efa | None) -> str:
    """Return what to do where nodes with several interfaces were to have a public address."""
    remedy = "select private subnets behind a NAT gateway"
    if instead is None:
        return remedy
    with_efa = "with EFA" if instead is Efa.LEGACY else "without EFA"
    return f"{remedy}, or pass efa={instead}: one interface, {with_efa}, which may have a public address"


def _zones(subnets: Sequence[Subnet]) -> list[Zone]:
    # A dictionary keeps the order in which the zones come, so that messages are the same in each run.
    return list(dict.fromkeys(subnet.zone for subnet in subnets if subnet.zone is not UNKNOWN))


def _join(zones: Sequence[Zone]) -> str:
    return ", ".join(map(str, zones))


def _empty() -> Problem:
    return Problem(
        what="vpc_subnets",
        given="a selection without subnets",
        allowed="a selection with at least one subnet of the VPC",
        remedy="select private subnets that exist, or add some with egress (a NAT gateway) to the VPC",
        prevents=_NO_SUBNET,
    )


def _not_in_zone(subnets: Sequence[Subnet], zone: Zone | None) -> Problem:
    return Problem(
        what="availability_zone",
        given=f"{zone}, with subnets in {_join(_zones(subnets))}",
        allowed="a zone in which the selection has a subnet",
        remedy="pass a zone of the VPC; where its zones are known only at deploy time, give the VPC "
        "availability_zones or its stack an env, or pass one of vpc.availability_zones",
        prevents=_NO_SUBNET,
    )
