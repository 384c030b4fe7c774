"""One test for each thing that EC2 and Auto Scaling refuse about how nodes are bought, with its correct neighbour."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_constructs.checks import UNKNOWN
from gpu_constructs.node_group.market_rules import Bought, problems

BLOCK = "capacity-block"


def _found(**options: Any) -> str:
    return "\n".join(map(str, problems(Bought(**options))))


def test_spot_is_not_asked_for_by_template_and_policy_both() -> None:
    assert "Incompatible launch template" in _found(market="spot", mixed=True)
    assert _found(market="spot") == ""
    assert _found(mixed=True) == ""


@pytest.mark.parametrize("behaviour", ["stop", "hibernate"])
def test_spot_in_a_placement_group_is_terminated(behaviour: str) -> None:
    assert f"got {behaviour} with a placement group" in _found(market="spot", interruption=behaviour, placed=True)
    assert _found(market="spot", interruption=behaviour) == ""
    assert _found(market="spot", interruption="terminate", placed=True) == ""


def test_dedicated_host_is_in_no_placement_group() -> None:
    assert "got host with a placement group" in _found(tenancy="host", placed=True)
    assert _found(tenancy="dedicated", placed=True) == ""
    assert _found(tenancy="host") == ""


@pytest.mark.parametrize("preference", ["open", "none"])
def test_preference_does_not_contradict_a_target(preference: str) -> None:
    assert f"got {preference} beside a target" in _found(targeted=True, preference=preference)
    assert _found(preference=preference) == ""
    assert _found(targeted=True, preference="capacity-reservations-only") == ""


def test_block_is_named() -> None:
    assert "The market type (purchasing) option is not valid" in _found(market=BLOCK)
    assert _found(market=BLOCK, targeted=True) == ""


def test_block_is_mixed_by_distribution_segments_alone() -> None:
    assert "got one with a Capacity Block" in _found(market=BLOCK, targeted=True, mixed=True)
    assert _found(market=BLOCK, targeted=True, mixed=True, segments=True) == ""


def test_block_has_no_warm_pool() -> None:
    assert "warm pool must be left out" in _found(market=BLOCK, targeted=True, warm_pool=True)
    assert _found(targeted=True, warm_pool=True) == ""


@pytest.mark.parametrize("tenancy", ["dedicated", "host"])
def test_block_is_of_default_tenancy(tenancy: str) -> None:
    assert f"got {tenancy} with a Capacity Block" in _found(market=BLOCK, targeted=True, tenancy=tenancy)
    assert _found(market=BLOCK, targeted=True, tenancy="default") == ""


def test_what_a_template_does_not_say_is_not_judged() -> None:
    unknown = {"market": UNKNOWN, "interruption": UNKNOWN, "preference": UNKNOWN, "tenancy": UNKNOWN}
    assert _found(**unknown, targeted=True, placed=True, mixed=True, warm_pool=True) == ""


def test_all_that_is_wrong_is_found_at_once() -> None:
    assert len(problems(Bought(market=BLOCK, mixed=True, warm_pool=True, tenancy="host"))) == 4
