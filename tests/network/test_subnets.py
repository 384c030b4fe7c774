from __future__ import annotations

import pytest

from gpu_constructs.checks import UNKNOWN, Problem
from gpu_constructs.network import subnets
from gpu_constructs.network.efa import Efa
from gpu_constructs.network.subnets import Subnet, Zone

A, B = Zone(name="us-east-1a"), Zone(name="us-east-1b")
LATER_A, LATER_B = Zone(name="${Token[1]}", literal=False), Zone(name="${Token[2]}", literal=False)


def _private(*zones: Zone) -> list[Subnet]:
    return [Subnet(zone=zone, public=False) for zone in zones]


@pytest.mark.parametrize(
    ("candidates", "zone", "index"),
    [
        (_private(A), None, 0),
        (_private(A, A), None, 0),
        (_private(A, B, B), B, 1),
        (_private(LATER_A, LATER_B), LATER_B, 1),
        ([Subnet(zone=UNKNOWN, public=False), *_private(A)], None, 0),
        ([Subnet(zone=UNKNOWN, public=False)], A, 0),
    ],
)
def test_first_subnet_of_the_zone_is_chosen(candidates: list[Subnet], zone: Zone | None, index: int) -> None:
    assert subnets.choose(candidates, zone) == index


@pytest.mark.parametrize(
    ("candidates", "zone", "message"),
    [
        ([], None, "vpc_subnets must be a selection with at least one subnet of the VPC"),
        (_private(A, B), None, "got none, with subnets in 2 zones (us-east-1a, us-east-1b)"),
        (_private(LATER_A, LATER_B), None, "got none, with subnets in 2 zones"),
        (_private(A), B, "got us-east-1b, with subnets in us-east-1a"),
        (_private(LATER_A), A, "got us-east-1a, with subnets in one known only at deploy time"),
    ],
)
def test_why_no_subnet_is_chosen(candidates: list[Subnet], zone: Zone | None, message: str) -> None:
    chosen = subnets.choose(candidates, zone)
    assert isinstance(chosen, Problem)
    assert message in str(chosen)


def test_several_zones_quote_the_error_of_auto_scaling() -> None:
    assert "cannot specify multiple Availability Zones and a cluster placement group" in str(
        subnets.choose(_private(A, B), None)
    )


def test_public_subnet_is_refused_for_several_interfaces_only() -> None:
    public = Subnet(zone=A, public=True)
    (problem,) = subnets.public_problems(public, interface_count=5)
    assert "got a public subnet for nodes with 5 network interfaces" in str(problem)
    assert "associatePublicIPAddress parameter cannot be specified" in str(problem)
    assert subnets.public_problems(public, interface_count=1) == []
    assert subnets.public_problems(_private(A)[0], interface_count=5) == []


def test_group_in_a_placement_group_is_in_one_zone() -> None:
    (problem,) = subnets.group_problems(_private(A, B), interface_count=5, placed_together=True)
    assert "must be subnets of one zone" in str(problem)
    assert subnets.group_problems(_private(A, B), interface_count=5, placed_together=False) == []
    assert subnets.group_problems(_private(A, A), interface_count=5, placed_together=True) == []


def test_group_names_a_public_subnet_and_several_zones_together() -> None:
    public = [Subnet(zone=zone, public=True) for zone in (A, B)]
    found = subnets.group_problems(public, interface_count=2, placed_together=True)
    assert ["public subnet" in str(found[0]), "one zone" in str(found[1]), len(found)] == [True, True, 2]


@pytest.mark.parametrize(
    ("instead", "remedy"),
    [
        (Efa.LEGACY, "or pass efa=Efa.LEGACY: one interface, with EFA, which may have a public address"),
        (Efa.OFF, "or pass efa=Efa.OFF: one interface, without EFA, which may have a public address"),
    ],
)
def test_public_subnet_names_the_mode_with_one_interface(instead: Efa, remedy: str) -> None:
    (problem,) = subnets.public_problems(Subnet(zone=A, public=True), interface_count=2, instead=instead)
    assert remedy in problem.remedy
