from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs import Efa, GpuInstance
from gpu_constructs.checks import UNKNOWN
from gpu_constructs.network import addresses, efa, placement_rules


@pytest.mark.parametrize(
    ("name", "mode", "count"),
    [
        ("p5.48xlarge", Efa.AUTO, 1),
        ("p5.48xlarge", Efa.LEGACY, 32),
        ("p5en.48xlarge", Efa.LEGACY, 16),
        ("p4d.24xlarge", Efa.LEGACY, 4),
        ("p6-b300.48xlarge", Efa.LEGACY, 17),
        ("p5.48xlarge", Efa.OFF, 1),
    ],
)
def test_addresses_that_a_node_takes(name: str, mode: Efa, count: int) -> None:
    assert efa.addresses(GpuInstance.of(name), mode) == count


def test_8_p5_with_combined_interfaces_do_not_fit_into_a_24() -> None:
    (problem,) = addresses.problems(["10.0.0.0/24"], nodes=8, addresses_per_node=32)
    assert "big enough for 256 IP addresses beside the 5 that EC2 keeps of each, got 10.0.0.0/24 with 251" in str(
        problem
    )
    assert "use a subnet of /23 or larger, or leave efa at Efa.AUTO" in str(problem)
    assert "InsufficientFreeAddressesInSubnet" in str(problem)
    assert addresses.problems(["10.0.0.0/24"], nodes=7, addresses_per_node=32) == []
    assert addresses.problems(["10.0.0.0/23"], nodes=8, addresses_per_node=32) == []


def test_subnets_are_counted_together() -> None:
    assert addresses.problems(["10.0.0.0/28", "10.0.0.16/28"], nodes=22, addresses_per_node=1) == []
    assert addresses.problems(["10.0.0.0/28", "10.0.0.16/28"], nodes=23, addresses_per_node=1) != []


def test_no_subnet_is_big_enough_for_everything() -> None:
    (problem,) = addresses.problems(["10.0.0.0/16"], nodes=4000, addresses_per_node=32)
    assert "use several subnets" in str(problem)


@pytest.mark.parametrize(
    ("cidrs", "nodes"), [([], 9), ([UNKNOWN], 99), (["10.0.0.0/28", UNKNOWN], 99), (["10.0.0.0/28"], UNKNOWN)]
)
def test_what_only_deploy_time_knows_is_not_judged(cidrs: list[Any], nodes: Any) -> None:
    assert addresses.problems(cidrs, nodes=nodes, addresses_per_node=1) == []


@given(needed=st.integers(0, 65531))
def test_the_subnet_that_is_named_is_the_smallest_that_fits(needed: int) -> None:
    prefix = addresses.smallest_prefix(needed)
    assert prefix is not None
    assert addresses.usable(f"10.0.0.0/{prefix}") >= needed
    assert prefix == 28 or addresses.usable(f"10.0.0.0/{prefix + 1}") < needed


def _instance(strategies: tuple[str, ...]) -> GpuInstance:
    return GpuInstance(
        "p9.48xlarge", gpus=1, gpu="X", gpu_memory_mib=1, vcpus=1, memory_mib=1, placement_strategies=strategies
    )


def test_placement_group_is_of_a_strategy_that_the_type_supports() -> None:
    (problem,) = placement_rules.problems(_instance(("partition", "spread")), "cluster")
    assert "must be one of strategy partition, spread, got one of strategy 'cluster' for 'p9.48xlarge'" in str(problem)
    assert "Cluster placement groups are not supported by the 'p9.48xlarge' instance type" in str(problem)
    assert placement_rules.problems(_instance(("cluster",)), "cluster") == []


@pytest.mark.parametrize("strategy", [None, UNKNOWN])
def test_placement_group_that_is_not_seen_is_not_judged(strategy: Any) -> None:
    assert placement_rules.problems(_instance(()), strategy) == []
