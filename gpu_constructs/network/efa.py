"""Which network interfaces a node gets. Imports no aws_cdk.

    interfaces(GpuInstance.of("p4d.24xlarge"))  # one ordinary interface and four EFA-only ones

The layout is the one that AWS recommends for instances with several network cards
(https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html):

- the primary interface, at card 0 and device 0, is an ordinary one, which has the node's only IP address: a primary
  interface may not be EFA-only;
- card 0 gets an EFA-only interface at device 1, where that card has EFA;
- every further card gets an EFA-only interface at device 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from gpu_constructs.checks import Problem

if TYPE_CHECKING:
    from gpu_constructs.instances.catalog import GpuInstance


@dataclass(frozen=True, kw_only=True)
class NetworkInterface:
    """One network interface of a node.

    Args:
        network_card_index: The network card, from 0.
        device_index: The place on that card, from 0.
        interface_type: "interface" is an ordinary one with an IP address, "efa-only" carries EFA traffic and nothing
            else.
    """

    network_card_index: int
    device_index: int
    interface_type: Literal["interface", "efa-only"]


def interfaces(instance: GpuInstance) -> tuple[NetworkInterface, ...]:
    """Return the interfaces of a node, the primary one first: EFA wherever the instance type has it.

    Args:
        instance: An instance type for which `problems` finds nothing.
    """
    primary = NetworkInterface(network_card_index=0, device_index=0, interface_type="interface")
    further_cards = instance.max_efa_interfaces - int(bool(instance.card0_efa))
    on_card_0 = [_efa_only(card=0, device=1)] if instance.card0_efa else []
    return (primary, *on_card_0, *(_efa_only(card=card, device=0) for card in range(1, further_cards + 1)))


def problems(instance: GpuInstance) -> list[Problem]:
    """Say why the interfaces of an instance type cannot be laid out; nothing if they can."""
    # An EFA-only interface may not be the primary one, so card 0 needs room for two.
    if not instance.card0_efa or instance.max_enis_per_card > 1:
        return []
    return [
        Problem(
            what="instance_type",
            given=f"{instance.name!r}, whose network card 0 takes one interface and has EFA",
            allowed="a type whose network card 0 takes two interfaces or has no EFA",
            remedy="correct max_enis_per_card; an EFA interface that is primary as well is not supported yet",
            prevents=f"AttachmentLimitExceeded: Interface count 2 exceeds the limit for {instance.name}",
        )
    ]


def _efa_only(*, card: int, device: int) -> NetworkInterface:
    return NetworkInterface(network_card_index=card, device_index=device, interface_type="efa-only")
