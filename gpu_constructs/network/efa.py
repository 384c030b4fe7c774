"""Which network interfaces a node gets. Imports no aws_cdk.

    interfaces(GpuInstance.of("p4d.24xlarge"))  # one ordinary interface and four EFA-only ones

The layout is the one that AWS recommends for instances with several network cards
(https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html):

- the primary interface, at card 0 and device 0, is an ordinary one, which has the node's only IP address: a primary
  interface may not be EFA-only;
- card 0 gets an EFA-only interface at device 1, where that card has EFA;
- every further card gets an EFA-only interface at device 0.

`Efa.LEGACY` is the older layout, in which each EFA interface is an ordinary one as well and has an address of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Literal

from gpu_constructs.checks import Problem

if TYPE_CHECKING:
    from gpu_constructs.instances.catalog import GpuInstance


class Efa(Enum):
    """Whether and how nodes get interfaces of the Elastic Fabric Adapter."""

    AUTO = "auto"
    """Wherever the type has it: one ordinary interface with the node's only address, and EFA-only ones. The default."""

    REQUIRED = "required"
    """As `AUTO`, but a type without EFA is refused."""

    LEGACY = "legacy"
    """Wherever the type has it, by combined interfaces, each with an address of its own: what services ask for that
    refuse EFA-only ones, and the only way to both EFA and a public address on a type with one network card."""

    OFF = "off"
    """One ordinary interface, whatever the type has."""


@dataclass(frozen=True, kw_only=True)
class NetworkInterface:
    """One network interface of a node.

    Args:
        network_card_index: The network card, from 0.
        device_index: The place on that card, from 0.
        interface_type: "interface" is an ordinary one with an IP address, "efa" one that carries EFA traffic as well,
            "efa-only" carries EFA traffic and nothing else, and has no address.
    """

    network_card_index: int
    device_index: int
    interface_type: Literal["interface", "efa", "efa-only"]

    @property
    def has_address(self) -> bool:
        """Whether it takes an IP address of its subnet."""
        return self.interface_type != "efa-only"


def interfaces(instance: GpuInstance, mode: Efa = Efa.AUTO) -> tuple[NetworkInterface, ...]:
    """Return the interfaces of a node, the primary one first.

    Args:
        instance: An instance type for which `problems` finds nothing.
        mode: Whether and how it gets EFA.
    """
    primary = NetworkInterface(network_card_index=0, device_index=0, interface_type="interface")
    if mode is Efa.OFF or not instance.max_efa_interfaces:
        return (primary,)
    further_cards = range(1, instance.max_efa_interfaces - int(bool(instance.card0_efa)) + 1)
    if mode is Efa.LEGACY:
        device = 1 if instance.max_enis_per_card > 1 else 0
        combined = NetworkInterface(network_card_index=0, device_index=0, interface_type="efa")
        return (
            combined if instance.card0_efa else primary,
            *(
                NetworkInterface(network_card_index=card, device_index=device, interface_type="efa")
                for card in further_cards
            ),
        )
    on_card_0 = [_efa_only(card=0, device=1)] if instance.card0_efa else []
    return (primary, *on_card_0, *(_efa_only(card=card, device=0) for card in further_cards))


def has_efa(instance: GpuInstance, mode: Efa = Efa.AUTO) -> bool:
    """Return whether nodes have an EFA interface."""
    return any(interface.interface_type != "interface" for interface in interfaces(instance, mode))


def addresses(instance: GpuInstance, mode: Efa = Efa.AUTO) -> int:
    """Return how many IP addresses a node takes of its subnet."""
    return sum(interface.has_address for interface in interfaces(instance, mode))


def single_interface_mode(instance: GpuInstance) -> Efa:
    """Return how nodes of a type get along with one interface, with EFA if that is possible."""
    return Efa.LEGACY if len(interfaces(instance, Efa.LEGACY)) == 1 else Efa.OFF


def problems(instance: GpuInstance, mode: Efa = Efa.AUTO) -> list[Problem]:
    """Say why the interfaces of an instance type cannot be laid out; nothing if they can."""
    if mode is Efa.REQUIRED and not instance.max_efa_interfaces:
        return [
            Problem(
                what="efa",
                given=f"Efa.REQUIRED with {instance.name!r}, which has no EFA",
                allowed="Efa.AUTO, Efa.LEGACY or Efa.OFF for a type without EFA",
                remedy="choose a type or size with EFA, such as g5.8xlarge or p4d.24xlarge, or leave efa out",
            )
        ]
    # An EFA-only interface may not be the primary one, so card 0 needs room for two.
    if mode in (Efa.LEGACY, Efa.OFF) or not instance.card0_efa or instance.max_enis_per_card > 1:
        return []
    return [
        Problem(
            what="instance_type",
            given=f"{instance.name!r}, whose network card 0 takes one interface and has EFA",
            allowed="a type whose network card 0 takes two interfaces or has no EFA",
            remedy="pass efa=Efa.LEGACY, whose primary interface carries EFA as well, or correct max_enis_per_card",
            prevents=f"AttachmentLimitExceeded: Interface count 2 exceeds the limit for {instance.name}",
        )
    ]


def _efa_only(*, card: int, device: int) -> NetworkInterface:
    return NetworkInterface(network_card_index=card, device_index=device, interface_type="efa-only")
