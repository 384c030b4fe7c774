from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs import Capacity
from gpu_constructs.capacity import Reservation, doubts, price, problems, timestamp
from gpu_constructs.checks import UNKNOWN

BLOCK = "cr-0123456789abcdef0"
GROUP = "arn:aws:resource-groups:us-east-1:111111111111:group/blocks"
START = datetime(2027, 1, 4, 11, 30, tzinfo=timezone.utc)
MOMENTS = st.datetimes(min_value=datetime(2026, 1, 1), max_value=datetime(2030, 1, 1), timezones=st.just(timezone.utc))


def _only(capacity: Capacity) -> str:
    (problem,) = problems(capacity)
    return str(problem)


@pytest.mark.parametrize(
    "capacity",
    [
        Capacity.on_demand(),
        Capacity.spot(),
        Capacity.spot(on_demand_base=2, max_price="12.50"),
        Capacity.spot(max_price=3),
        Capacity.spot(max_price=Decimal("0.001")),
        Capacity.reservation("cr-a1234567"),
        Capacity.reservation_group(GROUP),
        Capacity.reservation_group(GROUP.replace("aws", "aws-us-gov", 1)),
        Capacity.capacity_block(BLOCK),
        Capacity.capacity_block(BLOCK, START, START + timedelta(days=1)),
        Capacity.capacity_block(BLOCK, start=START),
        Capacity.capacity_block(BLOCK, end=START),
    ],
)
def test_capacity_is_accepted(capacity: Capacity) -> None:
    assert problems(capacity) == []
    assert doubts(capacity) == {}


def test_values_known_only_at_deploy_time_are_not_judged() -> None:
    assert problems(Capacity(market="spot", on_demand_base=UNKNOWN, max_price=UNKNOWN)) == []
    for market in ("reservation", "reservation-group", "capacity-block"):
        assert problems(Capacity(market=market, target=UNKNOWN)) == []


@pytest.mark.parametrize("base", [-1, 1.5, "1", True])
def test_on_demand_base_is_a_number_of_nodes(base: Any) -> None:
    assert "capacity on_demand_base must be a whole number of at least 0" in _only(Capacity.spot(on_demand_base=base))


@pytest.mark.parametrize(
    "max_price", [0, -1, 0.0009, "0", "", "1e3", "1_0", "$3", "٣", "nan", float("nan"), float("inf"), True, [1]]
)
def test_spot_price_below_a_tenth_of_a_cent_or_no_number_is_refused(max_price: Any) -> None:
    message = _only(Capacity.spot(max_price=max_price))
    assert f"capacity max_price must be a decimal number of at least 0.001 USD an hour, got {max_price!r}" in message


@given(st.decimals(min_value="0.001", max_value="10000", places=6))
def test_spot_price_is_written_without_an_exponent(number: Decimal) -> None:
    for max_price in (number, float(number), price(number)):
        assert problems(Capacity.spot(max_price=max_price)) == []
        assert set(price(max_price)) <= set("0123456789.")
        assert float(price(max_price)) == float(number)


@pytest.mark.parametrize(
    "identifier", ["", "cr-", "cr-XYZ", "cb-0123456789abcdef0", BLOCK + "0", BLOCK + "\n", 7, None]
)
def test_reservation_id_that_is_none_is_refused(identifier: Any) -> None:
    for capacity in (Capacity.reservation(identifier), Capacity.capacity_block(identifier)):
        assert f'capacity reservation id must be "cr-" and 8 to 17 hexadecimal digits, got {identifier!r}' in _only(
            capacity
        )


@pytest.mark.parametrize("arn", ["", BLOCK, "arn:aws:ec2:us-east-1:111111111111:capacity-reservation/" + BLOCK])
def test_reservation_group_that_is_no_resource_group_is_refused(arn: str) -> None:
    assert "capacity arn must be the ARN of a resource group" in _only(Capacity.reservation_group(arn))


@pytest.mark.parametrize("moment", ["2027-01-04T11:30:00Z", START.replace(tzinfo=None), START.date(), 0])
def test_moment_without_a_time_zone_is_refused(moment: Any) -> None:
    assert "capacity start must be a datetime with a time zone" in _only(Capacity.capacity_block(BLOCK, start=moment))
    assert "capacity end must be a datetime with a time zone" in _only(
        Capacity.capacity_block(BLOCK, start=START, end=moment)
    )


@given(MOMENTS, MOMENTS)
def test_block_ends_after_it_starts(start: datetime, end: datetime) -> None:
    found = problems(Capacity.capacity_block(BLOCK, start, end))
    assert bool(found) == (end <= start)
    assert all("capacity end must be after start" in str(problem) for problem in found)


@given(MOMENTS, st.integers(min_value=-14, max_value=14))
def test_moment_is_written_in_utc(moment: datetime, hours: int) -> None:
    elsewhere = moment.astimezone(timezone(timedelta(hours=hours)))
    assert timestamp(elsewhere) == timestamp(moment) == moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def test_block_that_does_not_end_at_half_past_eleven_is_warned_of() -> None:
    odd = Capacity.capacity_block(BLOCK, end=START + timedelta(hours=1))
    assert "Capacity Blocks end at 11:30 UTC" in doubts(odd)["blockEnd"]
    assert problems(odd) == []


@pytest.mark.parametrize(("days", "warned"), [(14, False), (182, False), (183, True)])
def test_block_longer_than_half_a_year_is_warned_of(days: int, warned: bool) -> None:
    capacity = Capacity.capacity_block(BLOCK, START, START + timedelta(days=days))
    assert ("blockLength" in doubts(capacity)) == warned
    assert problems(capacity) == []


def test_block_may_start_at_any_time_of_the_day() -> None:
    """One that is bought to start at once ends at 11:30 UTC all the same, so its length is no number of days."""
    assert problems(Capacity.capacity_block(BLOCK, START + timedelta(minutes=33), START + timedelta(days=1))) == []


def test_all_mistakes_are_found_at_once() -> None:
    capacity = Capacity(market="capacity-block", target="x", on_demand_base=-1, max_price=0, start=START, end=START)
    assert len(problems(capacity)) == 4


def test_capacity_is_limited_where_it_is_reserved() -> None:
    kinds = [Capacity.reservation(BLOCK), Capacity.reservation_group(GROUP), Capacity.capacity_block(BLOCK)]
    assert all(capacity.limited for capacity in kinds)
    assert not Capacity.on_demand().limited
    assert not Capacity.spot().limited


def test_reservation_of_the_same_app_needs_no_id() -> None:
    facts = Reservation(
        instance_type="p5.48xlarge", zone=None, tenancy="default", instance_count=1, in_placement_group=False
    )
    assert problems(Capacity(market="reservation", target=facts)) == []
