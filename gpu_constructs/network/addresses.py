"""Whether subnets have an IP address for every interface of every node. Imports no aws_cdk.

EC2 keeps five addresses of each subnet, and subnets are between a /28 and a /16:
https://docs.aws.amazon.com/vpc/latest/userguide/subnet-sizing.html
"""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Final

from gpu_constructs.checks import Problem, Unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

_RESERVED: Final = 5
_SMALLEST: Final = 28
_LARGEST: Final = 16
_ERROR: Final = (
    "InsufficientFreeAddressesInSubnet: There are not enough free addresses in subnet to satisfy the requested number "
    "of instances"
)


def usable(cidr: str) -> int:
    """Return how many addresses of a subnet EC2 gives away."""
    return max(0, IPv4Network(cidr, strict=False).num_addresses - _RESERVED)


def smallest_prefix(addresses: int) -> int | None:
    """Return the prefix length of the smallest subnet with as many addresses to give; `None` if none is big enough."""
    fitting = [length for length in range(_LARGEST, _SMALLEST + 1) if 2 ** (32 - length) - _RESERVED >= addresses]
    return max(fitting, default=None)


def problems(cidrs: Sequence[str | Unknown], *, nodes: int | Unknown, addresses_per_node: int) -> list[Problem]:
    """Say that subnets are too small for nodes; nothing if they are not, or if it cannot be known.

    Other things in the subnets, such as the interfaces of a file system, are not counted.

    Args:
        cidrs: The IPv4 blocks of the subnets over which the nodes are spread.
        nodes: Nodes.
        addresses_per_node: Addresses that a node takes.
    """
    known = [cidr for cidr in cidrs if not isinstance(cidr, Unknown)]
    if not known or len(known) < len(cidrs) or not isinstance(nodes, int):
        return []
    needed, there = nodes * addresses_per_node, sum(map(usable, known))
    if needed <= there:
        return []
    # Efa.LEGACY is what makes a node take more than one.
    fewer = "" if addresses_per_node == 1 else ", or leave efa at Efa.AUTO, with which a node takes one address"
    return [
        Problem(
            what="vpc_subnets",
            given=f"{', '.join(known)} with {there}, for {nodes} nodes with {addresses_per_node} each",
            allowed=f"big enough for {needed} IP addresses beside the {_RESERVED} that EC2 keeps of each",
            remedy=f"{_bigger(needed)}{fewer}",
            prevents=_ERROR,
        )
    ]


def _bigger(needed: int) -> str:
    prefix = smallest_prefix(needed)
    if prefix is None:
        return f"use several subnets, for the largest there are (/{_LARGEST}) is too small"
    return f"use a subnet of /{prefix} or larger"
