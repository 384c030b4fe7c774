"""Warm pools: instances that are ready before they are needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from gpu_constructs.local.clock import clock
from tests.local.services.group import Group

if TYPE_CHECKING:
    from mypy_boto3_autoscaling.client import AutoScalingClient

MakeGroup = Callable[..., Group]


@pytest.fixture
def put_pool(scaling: AutoScalingClient) -> Callable[..., None]:
    def put(**settings: Any) -> None:
        scaling.put_warm_pool(AutoScalingGroupName="nodes", **settings)

    return put


def test_a_pool_makes_up_the_difference_to_the_maximum(make_group: MakeGroup, put_pool: Callable[..., None]) -> None:
    group = make_group(1)
    put_pool()
    assert group.warm() == ["Warmed:Stopped"] * 3
    assert group.summary() == ["InService"]
    described = group.described()
    assert described["WarmPoolSize"] == 3
    assert described["WarmPoolConfiguration"] == {"MinSize": 0, "PoolState": "Stopped"}


def test_a_group_without_a_pool_has_no_pool_size(make_group: MakeGroup) -> None:
    assert "WarmPoolSize" not in make_group(1).described()


@pytest.mark.parametrize(
    ("settings", "size"),
    [({"MaxGroupPreparedCapacity": 2}, 1), ({"MaxGroupPreparedCapacity": 0, "MinSize": 2}, 2)],
)
def test_the_prepared_capacity_and_the_minimum_size_a_pool(
    settings: dict[str, int], size: int, make_group: MakeGroup, put_pool: Callable[..., None]
) -> None:
    group = make_group(1)
    put_pool(**settings)
    assert len(group.warm()) == size


@pytest.mark.parametrize(
    ("pool_state", "ec2_state"), [("Stopped", "stopped"), ("Running", "running"), ("Hibernated", "stopped")]
)
def test_the_ec2_instance_follows_the_pools_state(
    pool_state: str, ec2_state: str, make_group: MakeGroup, put_pool: Callable[..., None]
) -> None:
    group = make_group(1)
    put_pool(PoolState=pool_state, MaxGroupPreparedCapacity=2)
    [warmed] = group.warm_ids()
    assert group.warm() == [f"Warmed:{pool_state}"]
    assert group.ec2_state(warmed) == ec2_state


def test_an_instance_meets_the_launch_hook_on_its_way_in_and_on_its_way_out(
    make_group: MakeGroup, put_pool: Callable[..., None]
) -> None:
    group = make_group(0, launch_hook=300)
    put_pool(MaxGroupPreparedCapacity=1)
    [node] = group.warm_ids()
    assert group.warm() == ["Warmed:Pending:Wait"]
    assert group.ec2_state(node) == "running"
    group.complete(node)
    assert group.warm() == ["Warmed:Stopped"]
    group.resize(1)
    assert group.states() == {node: "Pending:Wait"}
    assert group.ec2_state(node) == "running"
    group.complete(node)
    assert group.states() == {node: "InService"}
    assert group.warm() == []


def test_scale_out_launches_only_what_the_pool_lacks(make_group: MakeGroup, put_pool: Callable[..., None]) -> None:
    group = make_group(0)
    put_pool(MaxGroupPreparedCapacity=1)
    [warmed] = group.warm_ids()
    group.resize(2)
    assert warmed in group.states()
    assert group.summary() == ["InService", "InService"]


def test_an_instance_that_fails_to_warm_up_is_replaced(make_group: MakeGroup, put_pool: Callable[..., None]) -> None:
    group = make_group(0, launch_hook=60)
    put_pool(MaxGroupPreparedCapacity=1)
    [failed] = group.warm_ids()
    clock.advance(61)
    [replacement] = group.warm_ids()
    assert replacement != failed
    assert group.ec2_state(failed) == "terminated"


@pytest.mark.parametrize("pool_state", ["Stopped", "Running"])
def test_an_unhealthy_instance_of_the_pool_is_replaced(
    pool_state: str, make_group: MakeGroup, put_pool: Callable[..., None], scaling: AutoScalingClient
) -> None:
    group = make_group(0)
    put_pool(PoolState=pool_state, MaxGroupPreparedCapacity=1)
    [broken] = group.warm_ids()
    scaling.set_instance_health(InstanceId=broken, HealthStatus="Unhealthy", ShouldRespectGracePeriod=False)
    [replacement] = group.warm_ids()
    assert replacement != broken
    assert group.ec2_state(broken) == "terminated"


def test_scale_in_terminates_unless_instances_are_reused(make_group: MakeGroup, put_pool: Callable[..., None]) -> None:
    group = make_group(1)
    put_pool(MaxGroupPreparedCapacity=1)
    node = group.only("InService")
    group.resize(0)
    assert group.ec2_state(node) == "terminated"
    assert node not in group.warm_ids()


def test_a_reused_instance_returns_through_the_terminate_hook(
    make_group: MakeGroup, put_pool: Callable[..., None]
) -> None:
    group = make_group(1, terminate_hook=300)
    put_pool(MaxGroupPreparedCapacity=1, InstanceReusePolicy={"ReuseOnScaleIn": True})
    node = group.only("InService")
    group.resize(0)
    assert (group.states(), group.warm_ids(), group.warm()) == ({}, [node], ["Warmed:Pending:Wait"])
    group.complete(node, "drain")
    assert group.warm() == ["Warmed:Stopped"]
    assert group.ec2_state(node) == "stopped"


def test_an_instance_that_leaves_the_pool_for_good_meets_the_terminate_hook(
    make_group: MakeGroup, put_pool: Callable[..., None]
) -> None:
    group = make_group(0, terminate_hook=300)
    put_pool(MaxGroupPreparedCapacity=1)
    [node] = group.warm_ids()
    put_pool(MaxGroupPreparedCapacity=0)
    assert group.warm() == ["Warmed:Terminating:Wait"]
    group.complete(node, "drain")
    assert group.warm() == []


def test_a_setting_stays_until_it_is_given_anew(make_group: MakeGroup, put_pool: Callable[..., None]) -> None:
    group = make_group(3)
    put_pool(PoolState="Running", MaxGroupPreparedCapacity=4)
    put_pool(MaxGroupPreparedCapacity=-1, MinSize=1)
    assert group.described()["WarmPoolConfiguration"] == {"MinSize": 1, "PoolState": "Running"}


def test_a_pool_being_deleted_waits_for_its_instances(
    make_group: MakeGroup, put_pool: Callable[..., None], scaling: AutoScalingClient
) -> None:
    group = make_group(0, terminate_hook=60)
    put_pool(MaxGroupPreparedCapacity=1)
    scaling.delete_warm_pool(AutoScalingGroupName="nodes")
    assert group.described()["WarmPoolConfiguration"]["Status"] == "PendingDelete"
    assert group.warm() == ["Warmed:Terminating:Wait"]
    clock.advance(61)
    assert "WarmPoolConfiguration" not in group.described()


def test_a_pool_deleted_by_force_is_gone_at_once(
    make_group: MakeGroup, put_pool: Callable[..., None], scaling: AutoScalingClient
) -> None:
    group = make_group(0, terminate_hook=60)
    put_pool(MaxGroupPreparedCapacity=1)
    [node] = group.warm_ids()
    scaling.delete_warm_pool(AutoScalingGroupName="nodes", ForceDelete=True)
    assert "WarmPoolConfiguration" not in group.described()
    assert group.ec2_state(node) == "terminated"


def test_warm_instances_are_described_with_the_groups_instances(
    make_group: MakeGroup, put_pool: Callable[..., None], scaling: AutoScalingClient
) -> None:
    make_group(1)
    put_pool(MaxGroupPreparedCapacity=2)
    described = scaling.describe_auto_scaling_instances()["AutoScalingInstances"]
    assert sorted(instance["LifecycleState"] for instance in described) == ["InService", "Warmed:Stopped"]


def test_a_wrong_pool_is_refused(
    make_group: MakeGroup, put_pool: Callable[..., None], scaling: AutoScalingClient
) -> None:
    make_group(0)
    with pytest.raises(ClientError, match="Invalid PoolState Warm"):
        put_pool(PoolState="Warm")
    with pytest.raises(ClientError, match="No warm pool found for group nodes"):
        scaling.delete_warm_pool(AutoScalingGroupName="nodes")
