"""One test for each thing that EC2 refuses about interfaces, with its correct neighbour beside it."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_constructs import GpuInstance
from gpu_constructs.checks import UNKNOWN
from gpu_constructs.instances import catalog
from gpu_constructs.network import efa
from gpu_constructs.network.efa import Efa
from gpu_constructs.network.interface_rules import Interface, group_count_problems, problems, public_address_problems

P4D, P5, B300 = (GpuInstance.of(name) for name in ("p4d.24xlarge", "p5.48xlarge", "p6-b300.48xlarge"))


def _nic(card: Any, device: Any, kind: Any = "interface", **options: Any) -> Interface:
    return Interface(network_card_index=card, device_index=device, interface_type=kind, **options)


def _found(*interfaces: Interface, **options: Any) -> str:
    return "\n".join(map(str, problems(interfaces, **options)))


def test_nothing_is_found_without_interfaces() -> None:
    assert problems([]) == []


@pytest.mark.parametrize("mode", Efa)
@pytest.mark.parametrize("name", catalog.names())
def test_layout_of_every_type_passes(name: str, mode: Efa) -> None:
    instance = GpuInstance.of(name)
    layout = [_nic(n.network_card_index, n.device_index, n.interface_type) for n in efa.interfaces(instance, mode)]
    assert problems(layout, instance=instance, subnet_assigns_public=False) == []


def test_primary_interface_may_not_be_efa_only() -> None:
    assert "an ordinary or a combined interface (efa) as the primary one" in _found(_nic(0, 0, "efa-only"))
    assert _found(_nic(0, 0, "efa"), instance=P4D) == ""


def test_device_at_index_0_is_needed() -> None:
    assert "you must include a device at index 0" in _found(_nic(0, 1, "efa"))
    assert _found(_nic(0, 0)) == ""


def test_device_index_is_needed_on_every_interface() -> None:
    assert "interfaces with a DeviceIndex" in _found(_nic(0, 0), _nic(1, None, "efa"))
    assert _found(_nic(0, 0), _nic(1, 0, "efa")) == ""


def test_places_are_unique() -> None:
    """What a missing NetworkCardIndex leads to: all interfaces on card 0."""
    assert "got 2 interfaces at card 0, device 0" in _found(_nic(0, 0), _nic(0, 0, "efa"))
    assert _found(_nic(0, 0), _nic(0, 1, "efa-only")) == ""


def test_one_efa_a_card() -> None:
    assert "got 2 EFA interfaces on card 0" in _found(_nic(0, 0, "efa"), _nic(0, 1, "efa"), instance=P4D)
    assert _found(_nic(0, 0, "efa"), _nic(1, 1, "efa"), instance=P4D) == ""


@pytest.mark.parametrize("device", [0, 1])
def test_further_cards_may_start_at_device_0_or_1(device: int) -> None:
    """AWS ships both."""
    assert _found(_nic(0, 0), _nic(1, device, "efa-only"), instance=P5) == ""


def test_device_is_below_the_limit_of_the_card() -> None:
    assert "interfaces at devices 0 to 1: a card of p5.48xlarge takes 2" in _found(
        _nic(0, 0), _nic(1, 2, "efa-only"), instance=P5
    )
    assert _found(_nic(0, 0), _nic(1, 2, "efa-only"), instance=P4D) == ""


def test_card_exists() -> None:
    assert "interfaces on cards 0 to 3 of p4d.24xlarge" in _found(_nic(0, 0), _nic(4, 0, "efa-only"), instance=P4D)
    assert _found(_nic(0, 0), _nic(3, 0, "efa-only"), instance=P4D) == ""


def test_card_0_of_p6_b300_takes_no_efa() -> None:
    assert "interfaces without EFA on card 0 of p6-b300.48xlarge" in _found(
        _nic(0, 0), _nic(0, 1, "efa-only"), instance=B300
    )
    assert _found(_nic(0, 0), _nic(1, 0, "efa-only"), instance=B300) == ""


def test_no_more_efa_interfaces_than_the_type_takes() -> None:
    g5 = GpuInstance.of("g5.xlarge")
    assert "at most 0 EFA interfaces on g5.xlarge" in _found(_nic(0, 0), _nic(0, 1, "efa-only"), instance=g5)
    assert _found(_nic(0, 0), _nic(0, 1), instance=g5) == ""


def test_efa_only_interface_has_no_public_address() -> None:
    """An explicit false is what others ship, and is accepted."""
    assert "EFA-only interfaces without AssociatePublicIpAddress" in _found(
        _nic(0, 0), _nic(0, 1, "efa-only", public_address=True)
    )
    assert _found(_nic(0, 0), _nic(0, 1, "efa-only", public_address=False)) == ""


def test_efa_only_interface_says_nothing_of_addresses_and_connections() -> None:
    settings = {"about_addresses": ("Ipv6PrefixCount",)}
    assert "got Ipv6PrefixCount on efa-only at card 0, device 1" in _found(
        _nic(0, 0), _nic(0, 1, "efa-only", **settings)
    )
    assert _found(_nic(0, 0, **settings), _nic(0, 1, "efa-only")) == ""
    assert _found(_nic(0, 0), _nic(1, 0, "efa", **settings)) == ""


def test_interface_type_is_one_that_ec2_knows() -> None:
    assert "interfaces of type interface, efa, efa-only" in _found(_nic(0, 0), _nic(1, 0, "EFA"))


def test_security_groups_are_on_every_interface() -> None:
    assert "interfaces with security groups" in _found(_nic(0, 0), _nic(0, 1, "efa-only", group_count=0))
    assert _found(_nic(0, 0), _nic(0, 1, "efa-only", group_count=1)) == ""


def test_security_groups_beside_interfaces_are_refused() -> None:
    assert "When a network interface is provided, the security groups must be a part of it" in _found(
        _nic(0, 0), groups_beside=True
    )
    assert problems([], groups_beside=True) == []


def test_more_security_groups_than_any_quota_allows_are_refused() -> None:
    (problem,) = group_count_problems(17)
    assert "got 17 on each interface" in str(problem)
    assert group_count_problems(16) == group_count_problems(UNKNOWN) == []


@pytest.mark.parametrize(
    ("count", "asked", "by_subnet", "refused"),
    [
        (5, True, UNKNOWN, True),
        (2, True, False, True),
        (2, None, True, True),
        (2, False, True, False),
        (2, None, False, False),
        (2, None, UNKNOWN, False),
        (2, UNKNOWN, True, False),
        (1, True, True, False),
        (1, None, True, False),
    ],
)
def test_public_address_takes_one_interface(count: int, asked: Any, by_subnet: Any, *, refused: bool) -> None:
    found = public_address_problems(interface_count=count, asked=asked, subnet_assigns_public=by_subnet, remedy="x")
    assert [p.prevents is not None and "associatePublicIPAddress" in p.prevents for p in found] == [True] * refused


def test_what_only_deploy_time_knows_is_not_judged() -> None:
    unknown = _nic(UNKNOWN, UNKNOWN, UNKNOWN, group_count=UNKNOWN, public_address=UNKNOWN)
    assert _found(unknown, unknown, instance=P4D) == ""


def test_all_that_is_wrong_is_found_at_once() -> None:
    found = problems([_nic(0, 0, "efa-only", group_count=0), _nic(9, 0, "efa", group_count=0)], instance=P4D)
    assert len(found) == 3
