from __future__ import annotations

import pytest

from gpu_constructs.network.subnets import Zone
from gpu_constructs.storage import place_rules

A, B = Zone(name="us-east-1a"), Zone(name="us-east-1b")
LATER, LATER_TOO = Zone(name="${Token[1]}", literal=False), Zone(name="${Token[2]}", literal=False)


def test_file_system_cannot_be_in_a_vpc_that_is_yet_to_be_created() -> None:
    (problem,) = place_rules.problems(created_in_a_vpc=True, clients_get_a_vpc=True)
    assert "belong to different networks" in str(problem)
    assert place_rules.problems(created_in_a_vpc=True, clients_get_a_vpc=False) == []
    assert place_rules.problems(created_in_a_vpc=False, clients_get_a_vpc=True) == []


@pytest.mark.parametrize(
    ("same_vpc", "clients_get_a_vpc", "text"),
    [
        (True, False, None),
        (None, False, None),
        (False, False, "once the VPCs are peered"),
        (None, True, "it is not in the VPC that the cluster creates"),
    ],
)
def test_file_system_in_another_vpc_is_doubted(
    same_vpc: bool | None, clients_get_a_vpc: bool, text: str | None
) -> None:
    found = place_rules.vpc_doubts(same_vpc=same_vpc, clients_get_a_vpc=clients_get_a_vpc)
    assert (text in found["fileSystemInAnotherVpc"]) if text else found == {}


@pytest.mark.parametrize("own", [None, A, LATER])
def test_file_system_in_the_zone_of_its_clients_or_one_that_is_not_known_is_not_doubted(own: Zone | None) -> None:
    """A name and a token may be the same zone."""
    assert place_rules.zone_doubts(own, A, efa=True) == {}


@pytest.mark.parametrize(("own", "of_clients"), [(B, A), (LATER, LATER_TOO)])
def test_file_system_in_another_zone_is_doubted(own: Zone, of_clients: Zone) -> None:
    (text,) = place_rules.zone_doubts(own, of_clients, efa=False).values()
    assert "slower and billed;" in text
    (text,) = place_rules.zone_doubts(own, of_clients, efa=True).values()
    assert "slower and billed, and EFA does not pass;" in text
