"""What EC2 refuses about the network interfaces of a launch template. Imports no aws_cdk.

The values are those of a template that anybody may have written; what a template does not say is `UNKNOWN`, and is not
judged. Sources: https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security and the EC2 API reference of
LaunchTemplateInstanceNetworkInterfaceSpecificationRequest.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gpu_constructs.checks import UNKNOWN, Problem, Unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gpu_constructs.instances.catalog import GpuInstance

PUBLIC_ADDRESS_ERROR = (
    "InvalidParameterCombination: The associatePublicIPAddress parameter cannot be specified when launching with "
    "multiple network interfaces"
)
MOST_GROUPS = 16
TYPES = ("interface", "efa", "efa-only")
ABOUT_ADDRESSES = (
    "ConnectionTrackingSpecification",
    "Ipv4PrefixCount",
    "Ipv4Prefixes",
    "Ipv6AddressCount",
    "Ipv6Addresses",
    "Ipv6PrefixCount",
    "Ipv6Prefixes",
    "PrimaryIpv6",
    "PrivateIpAddress",
    "PrivateIpAddresses",
    "SecondaryPrivateIpAddressCount",
)
"""Properties of an interface that an EFA-only one, which has no address, cannot have."""


@dataclass(frozen=True, kw_only=True)
class Interface:
    """An interface as a launch template states it.

    Args:
        network_card_index: The network card; 0 where the template leaves it out.
        device_index: The place on the card; `None` where it is left out.
        interface_type: "interface", which is also what leaving it out means, "efa" or "efa-only".
        group_count: Security groups on it.
        public_address: Whether it asks for a public address; `None` where it leaves that to the subnet.
        about_addresses: The properties by which it says something of its IP addresses or their connections.
    """

    network_card_index: int | Unknown = 0
    device_index: int | Unknown | None
    interface_type: str | Unknown = "interface"
    group_count: int | Unknown = 1
    public_address: bool | Unknown | None = None
    about_addresses: tuple[str, ...] = ()

    @property
    def place(self) -> tuple[int, int] | None:
        """Card and device, where both are known."""
        card, device = self.network_card_index, self.device_index
        return (card, device) if isinstance(card, int) and isinstance(device, int) else None

    @property
    def carries_efa(self) -> bool:
        """Whether it is known to carry EFA traffic."""
        return self.interface_type in ("efa", "efa-only")

    def __str__(self) -> str:
        return f"{self.interface_type} at card {self.network_card_index}, device {self.device_index}"


def problems(
    interfaces: Sequence[Interface],
    *,
    instance: GpuInstance | Unknown = UNKNOWN,
    groups_beside: bool = False,
    subnet_assigns_public: bool | Unknown = UNKNOWN,
) -> list[Problem]:
    """Say what EC2 would refuse about the interfaces of a launch template; nothing if it would accept them.

    Args:
        interfaces: All interfaces of the template.
        instance: The facts about its instance type, where it is known.
        groups_beside: Whether the template has security groups beside its interfaces.
        subnet_assigns_public: Whether the subnet gives public addresses (MapPublicIpOnLaunch), where it is known.
    """
    if not interfaces:
        return []
    found = [*_places(interfaces), *_types(interfaces), *_groups(interfaces, beside=groups_beside)]
    found += public_address_problems(
        interface_count=len(interfaces),
        asked=interfaces[0].public_address,
        subnet_assigns_public=subnet_assigns_public,
        remedy="leave it out or state false, and use private subnets behind a NAT gateway",
    )
    return found if isinstance(instance, Unknown) else [*found, *_limits(interfaces, instance)]


def public_address_problems(
    *,
    interface_count: int,
    asked: bool | Unknown | None,
    subnet_assigns_public: bool | Unknown = UNKNOWN,
    remedy: str,
) -> list[Problem]:
    """Say why EC2 would not give nodes a public address; nothing if it would, or if none is asked for.

    Args:
        interface_count: Interfaces of a node, EFA-only ones among them.
        asked: AssociatePublicIpAddress; `None` leaves it to the subnet.
        subnet_assigns_public: Whether the subnet gives one by itself (MapPublicIpOnLaunch).
        remedy: What to do.
    """
    by_subnet = asked is None and subnet_assigns_public is True
    if interface_count == 1 or not (asked is True or by_subnet):
        return []
    return [
        Problem(
            what="AssociatePublicIpAddress",
            given=f"{'MapPublicIpOnLaunch of the subnet' if by_subnet else 'true'} for nodes with {interface_count} "
            "network interfaces",
            allowed="false for nodes with several network interfaces",
            remedy=remedy,
            prevents=PUBLIC_ADDRESS_ERROR,
        )
    ]


def group_count_problems(count: int | Unknown) -> list[Problem]:
    """Say that an interface has more security groups than any quota allows; nothing if it has not.

    The quota is 5, and AWS raises it to 16 at most: https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html
    """
    if isinstance(count, Unknown) or count <= MOST_GROUPS:
        return []
    return [
        Problem(
            what="security_groups",
            given=f"{count} on each interface",
            allowed=f"at most {MOST_GROUPS} on an interface, the nodes' own among them",
            remedy="put the rules of several groups into one",
            prevents="SecurityGroupsPerInterfaceLimitExceeded",
        )
    ]


def _problem(given: str, allowed: str, remedy: str, prevents: str | None = None) -> Problem:
    return Problem(what="NetworkInterfaces", given=given, allowed=allowed, remedy=remedy, prevents=prevents)


def _listing(
    interfaces: Sequence[Interface],
    wrong: Callable[[Interface], bool],
    allowed: str,
    remedy: str,
    prevents: str | None = None,
) -> list[Problem]:
    found = [str(interface) for interface in interfaces if wrong(interface)]
    return [_problem("; ".join(found), allowed, remedy, prevents)] if found else []


def _places(interfaces: Sequence[Interface]) -> list[Problem]:
    places = Counter(interface.place for interface in interfaces if interface.place is not None)
    found = [
        _problem(
            f"{count} interfaces at card {card}, device {device}",
            "interfaces with a place of their own",
            "give each interface its NetworkCardIndex and DeviceIndex",
        )
        for (card, device), count in places.items()
        if count > 1
    ]
    if all(interface.place is not None for interface in interfaces) and (0, 0) not in places:
        found.append(
            _problem(
                "none at card 0, device 0",
                "a list with a primary interface",
                "put the ordinary interface at NetworkCardIndex 0 and DeviceIndex 0",
                "When specifying network interfaces, you must include a device at index 0",
            )
        )
    return found + _listing(
        interfaces,
        lambda interface: interface.device_index is None,
        "interfaces with a DeviceIndex",
        "state the place on the card",
    )


def _types(interfaces: Sequence[Interface]) -> list[Problem]:
    cards = Counter(
        interface.network_card_index
        for interface in interfaces
        if interface.carries_efa and not isinstance(interface.network_card_index, Unknown)
    )
    found = [
        _problem(
            f"{count} EFA interfaces on card {card}",
            "one EFA interface at most on a card",
            "put each on a NetworkCardIndex of its own",
        )
        for card, count in cards.items()
        if count > 1
    ]
    found += _listing(
        interfaces,
        lambda interface: interface.place == (0, 0) and interface.interface_type == "efa-only",
        "an ordinary or a combined interface (efa) as the primary one",
        "leave InterfaceType out at card 0, device 0; an EFA-only one goes to device 1",
    )
    found += _listing(
        interfaces,
        lambda interface: interface.interface_type == "efa-only" and interface.public_address is True,
        "EFA-only interfaces without AssociatePublicIpAddress",
        "leave it out: they have no IP address",
    )
    found += [
        _problem(
            f"{', '.join(interface.about_addresses)} on {interface}",
            "EFA-only interfaces without settings of addresses and connections",
            "set them on the primary interface: an EFA-only one has no IP address",
            "InvalidParameterValue",
        )
        for interface in interfaces
        if interface.interface_type == "efa-only" and interface.about_addresses
    ]
    return found + _listing(
        interfaces,
        lambda interface: interface.interface_type is not UNKNOWN and interface.interface_type not in TYPES,
        f"interfaces of type {', '.join(TYPES)}",
        "correct InterfaceType",
    )


def _groups(interfaces: Sequence[Interface], *, beside: bool) -> list[Problem]:
    found = _listing(
        interfaces,
        lambda interface: interface.group_count == 0,
        "interfaces with security groups: without, they get the default one of the VPC",
        "list the security groups in Groups of each interface",
    )
    counts = [interface.group_count for interface in interfaces if isinstance(interface.group_count, int)]
    found += group_count_problems(max(counts, default=0))
    if beside:
        found.append(
            _problem(
                "security groups beside them (SecurityGroupIds or SecurityGroups)",
                "the only place of security groups",
                "move the groups into each interface",
                "InvalidParameterCombination: When a network interface is provided, the security groups must be a "
                "part of it",
            )
        )
    return found


def _limits(interfaces: Sequence[Interface], instance: GpuInstance) -> list[Problem]:
    cards, devices = instance.network_cards, instance.max_enis_per_card
    found = _listing(
        interfaces,
        lambda interface: interface.place is not None and interface.place[0] >= cards,
        f"interfaces on cards 0 to {cards - 1} of {instance.name}",
        "leave the others out",
    )
    found += _listing(
        interfaces,
        lambda interface: interface.place is not None and interface.place[1] >= devices,
        f"interfaces at devices 0 to {devices - 1}: a card of {instance.name} takes {devices}",
        "use device 0 on cards other than 0",
        f"AttachmentLimitExceeded: Interface count exceeds the limit for {instance.name}",
    )
    found += _listing(
        interfaces,
        lambda interface: interface.carries_efa and interface.network_card_index == 0 and not instance.card0_efa,
        f"interfaces without EFA on card 0 of {instance.name}, which has none there",
        "start the EFA interfaces at card 1",
    )
    count = sum(interface.carries_efa for interface in interfaces)
    if count > instance.max_efa_interfaces:
        found.append(
            _problem(
                f"{count} EFA interfaces",
                f"at most {instance.max_efa_interfaces} EFA interfaces on {instance.name}",
                "leave the others out",
            )
        )
    return found
