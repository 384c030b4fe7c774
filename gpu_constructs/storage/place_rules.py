"""Whether a file system that is given is where its clients are. Imports no aws_cdk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_constructs.checks import Problem

if TYPE_CHECKING:
    from gpu_constructs.network.subnets import Zone


def problems(*, created_in_a_vpc: bool, clients_get_a_vpc: bool) -> list[Problem]:
    """Say why clients cannot be let into a file system; nothing if they can.

    Args:
        created_in_a_vpc: Whether the app creates it, in a VPC that is known; one that exists may be anywhere.
        clients_get_a_vpc: Whether a VPC is created for the clients, in which there is nothing else.
    """
    if not (created_in_a_vpc and clients_get_a_vpc):
        return []
    return [
        Problem(
            what="file_system",
            given="a LustreStorage in another VPC than the one that the cluster creates for its nodes",
            allowed="in the VPC of the nodes",
            remedy="pass the vpc of the file system to the cluster as well, or a Lustre, which the cluster creates",
            prevents="InvalidParameterValue: You have specified two resources that belong to different networks",
        )
    ]


def vpc_doubts(*, same_vpc: bool | None, clients_get_a_vpc: bool) -> dict[str, str]:
    """Say what looks wrong about the VPC of a file system, by the code of the warning.

    Args:
        same_vpc: Whether it is that of its clients; `None` where that is not known.
        clients_get_a_vpc: Whether a VPC is created for the clients.
    """
    if same_vpc is False:
        text = "is in another VPC than the nodes: security groups can name each other once the VPCs are peered"
    elif clients_get_a_vpc:
        text = "exists, so it is not in the VPC that the cluster creates for its nodes; pass the vpc that it is in"
    else:
        return {}
    see = "https://docs.aws.amazon.com/vpc/latest/peering/vpc-peering-security-groups.html"
    return {"fileSystemInAnotherVpc": f"the file system {text} ({see})"}


def zone_doubts(own: Zone | None, of_clients: Zone, *, efa: bool) -> dict[str, str]:
    """Say that a file system is in another zone than its clients, by the code of the warning.

    Args:
        own: The zone of the file system, if it is known.
        of_clients: That of its clients.
        efa: Whether they are to reach it by EFA.
    """
    # A name and a token may stand for the same zone.
    if own is None or own.literal != of_clients.literal or own == of_clients:
        return {}
    cannot = ", and EFA does not pass" if efa else ""
    return {
        "fileSystemInAnotherZone": f"file system and nodes are in two zones ({own}, {of_clients}), between which "
        f"traffic is slower and billed{cannot}; create the file system in the subnet of the nodes "
        "(https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html)"
    }
