from __future__ import annotations

import dataclasses
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from gpu_constructs import Capacity, GpuInstance
from gpu_constructs.capacity import Reservation
from gpu_constructs.checks import UNKNOWN
from gpu_constructs.instances import catalog
from gpu_constructs.network.subnets import Zone
from gpu_constructs.node_group import capacity_rules as rules

BLOCK = "cr-0123456789abcdef0"
GROUP = "arn:aws:resource-groups:us-east-1:111111111111:group/reservations"
END = datetime(2027, 1, 5, 11, 30, tzinfo=timezone.utc)
A, B = Zone(name="us-east-1a"), Zone(name="us-east-1b")
P5 = GpuInstance.of("p5.48xlarge")
ULTRASERVER = dataclasses.replace(P5, name="p6e-gb200.36xlarge")
ALL = [
    Capacity.on_demand(),
    Capacity.spot(),
    Capacity.reservation(BLOCK),
    Capacity.reservation_group(GROUP),
    Capacity.capacity_block(BLOCK),
]


def _reserved(capacity: Capacity | None = None, **facts: Any) -> Capacity:
    known = {"instance_type": "p5.48xlarge", "zone": A, "tenancy": "default", "instance_count": 2}
    target = Reservation(**{**known, "in_placement_group": False, **facts})
    return dataclasses.replace(capacity or Capacity.reservation("x"), target=target)


@pytest.mark.parametrize("capacity", ALL)
def test_p5_can_be_bought_in_every_way(capacity: Capacity) -> None:
    assert rules.type_problems(capacity, P5) == []


@pytest.mark.parametrize(("market", "capacity"), [("spot", Capacity.spot()), ("capacity-block", ALL[-1])])
def test_type_is_bought_only_in_ways_that_its_usage_classes_name(market: str, capacity: Capacity) -> None:
    for name in catalog.names():
        instance = GpuInstance.of(name)
        assert bool(rules.type_problems(capacity, instance)) == (market not in instance.usage_classes)


def test_type_without_capacity_blocks_is_refused() -> None:
    (problem,) = rules.type_problems(ALL[-1], GpuInstance.of("g5.xlarge"))
    assert "capacity must be one of the usage classes of the type (on-demand, spot)" in str(problem)
    assert "got Capacity.capacity_block(...) for 'g5.xlarge'" in str(problem)


def test_type_without_spot_is_refused() -> None:
    (problem,) = rules.type_problems(Capacity.spot(), dataclasses.replace(P5, usage_classes=("on-demand",)))
    assert "got Capacity.spot(...) for 'p5.48xlarge'" in str(problem)


@pytest.mark.parametrize("name", ["p5en.48xlarge", "p5.48xlarge"])
def test_type_that_is_sold_in_blocks_is_accepted(name: str) -> None:
    assert rules.type_problems(ALL[-1], GpuInstance.of(name)) == []


@pytest.mark.parametrize(("instance", "minutes"), [(P5, 45), (ULTRASERVER, 75)])
def test_nodes_leave_before_aws_terminates_them(instance: GpuInstance, minutes: int) -> None:
    assert rules.leave_at(Capacity.capacity_block(BLOCK, end=END), instance) == END - timedelta(minutes=minutes)
    assert rules.leave_at(Capacity.capacity_block(BLOCK), instance) is None


@pytest.mark.parametrize(("instance", "minutes"), [(P5, 45), (ULTRASERVER, 75)])
def test_block_that_is_left_before_it_starts_is_refused(instance: GpuInstance, minutes: int) -> None:
    def block(minutes: int) -> Capacity:
        return Capacity.capacity_block(BLOCK, END - timedelta(minutes=minutes), END)

    assert rules.type_problems(block(minutes + 1), instance) == []
    (problem,) = rules.type_problems(block(minutes), instance)
    assert f"capacity end must be more than {minutes} minutes after start" in str(problem)


@pytest.mark.parametrize("end", [END.replace(tzinfo=None), "soon"])
def test_moments_that_are_refused_elsewhere_are_not_judged_here(end: Any) -> None:
    assert rules.type_problems(Capacity.capacity_block(BLOCK, END, end), P5) == []


def test_placement_group_is_for_capacity_that_is_not_reserved() -> None:
    assert [rules.placed_together(capacity, P5) for capacity in ALL] == [True, True, False, False, False]
    assert not rules.placed_together(Capacity.on_demand(), dataclasses.replace(P5, placement_strategies=("spread",)))


def test_placement_group_forced_on_a_reservation_is_refused() -> None:
    """https://github.com/terraform-aws-modules/terraform-aws-eks/issues/3730: there is no capacity for them."""
    (problem,) = rules.placement_problems(Capacity.reservation(BLOCK), given=True)
    assert 'prevents "InsufficientInstanceCapacity"' in str(problem)
    assert rules.placement_problems(Capacity.reservation(BLOCK), given=False) == []


def test_placement_group_with_a_block_is_warned_of() -> None:
    assert rules.placement_problems(ALL[-1], given=True) == []
    assert "blockPlacement" in rules.placement_doubts(ALL[-1], given=True)
    assert rules.placement_doubts(ALL[-1], given=False) == {}


@pytest.mark.parametrize(("capacity", "count"), list(zip(ALL, [0, 0, 1, 0, 1], strict=True)))
def test_reserved_capacity_is_in_one_zone(capacity: Capacity, count: int) -> None:
    found = rules.group_problems(capacity, [A, B], types=1, min_capacity=0)
    assert len(found) == count
    assert all("got subnets in 2 zones (us-east-1a, us-east-1b)" in str(problem) for problem in found)
    assert rules.group_problems(capacity, [A], types=1, min_capacity=0) == []


@pytest.mark.parametrize(("capacity", "count"), list(zip(ALL, [0, 0, 1, 0, 1], strict=True)))
def test_reserved_capacity_is_of_one_type(capacity: Capacity, count: int) -> None:
    found = rules.group_problems(capacity, [A], types=2, min_capacity=0)
    assert len(found) == count
    assert all("Auto Scaling supports no mixed instances with a Capacity Block" in str(problem) for problem in found)


@pytest.mark.parametrize(("least", "count"), [(0, 0), (UNKNOWN, 0), (1, 1)])
def test_group_in_a_block_with_a_calendar_can_be_empty(least: Any, count: int) -> None:
    capacity = Capacity.capacity_block(BLOCK, end=END)
    assert len(rules.group_problems(capacity, [A], types=1, min_capacity=least)) == count
    assert rules.group_problems(ALL[-1], [A], types=1, min_capacity=least) == []


@pytest.mark.parametrize(("capacity", "count"), list(zip(ALL, [0, 0, 0, 0, 1], strict=True)))
def test_warm_pool_is_refused_with_a_block(capacity: Capacity, count: int) -> None:
    assert len(rules.warm_pool_problems(capacity)) == count


def test_reservation_that_fits_is_accepted() -> None:
    assert rules.type_problems(_reserved(), P5) == []
    assert rules.group_problems(_reserved(), [A], types=1, min_capacity=1) == []
    assert rules.group_doubts(_reserved(), types=1, placed=False, max_capacity=2) == {}


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"instance_type": "p5e.48xlarge"}, "with a reservation for 'p5e.48xlarge'"),
        ({"tenancy": "dedicated"}, "got a reservation of tenancy 'dedicated'"),
        ({"platform": "Windows with SQL Server"}, "got a reservation of platform 'Windows with SQL Server'"),
        ({"in_placement_group": True}, "got none, with a reservation that is created in one"),
    ],
)
def test_reservation_that_does_not_match_the_nodes_is_refused(facts: dict[str, Any], message: str) -> None:
    (problem,) = rules.type_problems(_reserved(**facts), P5)
    assert message in str(problem)


def test_reservation_in_another_zone_is_refused() -> None:
    (problem,) = rules.group_problems(_reserved(), [B], types=1, min_capacity=0)
    assert "got us-east-1b, with a reservation in us-east-1a" in str(problem)


@pytest.mark.parametrize("zone", [None, Zone(name="token", literal=False)])
def test_reservation_in_a_zone_that_nobody_knows_is_not_judged(zone: Zone | None) -> None:
    assert rules.group_problems(_reserved(zone=zone), [B], types=1, min_capacity=0) == []


def test_facts_known_only_at_deploy_time_are_not_judged() -> None:
    unknown = _reserved(instance_type=UNKNOWN, tenancy=UNKNOWN, instance_count=UNKNOWN, platform=UNKNOWN)
    assert rules.type_problems(unknown, P5) == []
    assert rules.group_doubts(unknown, types=1, placed=False, max_capacity=99) == {}
    assert rules.group_doubts(_reserved(), types=1, placed=False, max_capacity=UNKNOWN) == {}


@pytest.mark.parametrize(
    ("capacity", "options", "code"),
    [
        (ALL[-1], {"max_capacity": 65}, "blockSize"),
        (_reserved(), {"max_capacity": 3}, "reservationSize"),
        (Capacity.spot(), {"types": 2, "placed": True}, "mixedPlacement"),
    ],
)
def test_group_is_warned_of(capacity: Capacity, options: dict[str, Any], code: str) -> None:
    assert set(rules.group_doubts(capacity, **{"types": 1, "placed": False, "max_capacity": 64, **options})) == {code}


def test_group_that_is_as_large_as_aws_sells_blocks_is_not_warned_of() -> None:
    assert rules.group_doubts(ALL[-1], types=1, placed=False, max_capacity=64) == {}


@pytest.mark.parametrize(("capacity", "warned"), list(zip(ALL, [False, False, True, False, True], strict=True)))
def test_first_zone_of_the_account_is_a_guess_where_capacity_is_reserved(capacity: Capacity, warned: bool) -> None:
    assert bool(rules.zone_doubts(capacity, chosen=False)) == warned
    assert rules.zone_doubts(capacity, chosen=True) == {}
