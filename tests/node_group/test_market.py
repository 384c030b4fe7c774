from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from gpu_constructs import Capacity, GpuConstructsError, GpuLaunchTemplate, GpuNodeGroup
from gpu_constructs.network.placement import create_placement_group
from tests.conftest import only, resources, warnings

BLOCK = "cr-0123456789abcdef0"
ARN = "arn:aws:resource-groups:us-east-1:111111111111:group/reservations"
START = datetime(2027, 1, 4, 11, 30, tzinfo=timezone.utc)
END = datetime(2027, 1, 18, 11, 30, tzinfo=timezone.utc)
ONE_ZONE = ec2.SubnetSelection(availability_zones=["us-east-1a"], subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)


def _template(stack: Stack, vpc: ec2.Vpc, capacity: Capacity, **options: Any) -> GpuLaunchTemplate:
    return GpuLaunchTemplate(
        stack, "Template", vpc=vpc, capacity=capacity, **{"instance_type": "p5.48xlarge", **options}
    )


def _group(
    stack: Stack, vpc: ec2.Vpc, capacity: Capacity, instance_type: str = "p5.48xlarge", **options: Any
) -> GpuNodeGroup:
    template = _template(stack, vpc, capacity, instance_type=instance_type)
    return GpuNodeGroup(
        stack, "Nodes", launch_template=template, **{"max_capacity": 4, "vpc_subnets": ONE_ZONE, **options}
    )


def _data(stack: Stack) -> dict[str, Any]:
    data: dict[str, Any] = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    return data


def _properties(stack: Stack) -> dict[str, Any]:
    properties: dict[str, Any] = only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]
    return properties


def _target(stack: Stack) -> Any:
    return _data(stack)["CapacityReservationSpecification"]["CapacityReservationTarget"]


def _refused(build: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(GpuConstructsError) as raised:
        build(*arguments, **options)
    return str(raised.value)


def _reservation(stack: Stack, **options: Any) -> ec2.CfnCapacityReservation:
    return ec2.CfnCapacityReservation(
        stack,
        "Reservation",
        **{
            "instance_type": "p5.48xlarge",
            "instance_platform": "Linux/UNIX",
            "instance_count": 4,
            "availability_zone": "us-east-1a",
            **options,
        },
    )


@pytest.mark.parametrize("capacity", [Capacity.on_demand(), Capacity.spot()])
def test_template_says_nothing_of_the_market_on_demand_and_for_spot(
    stack: Stack, vpc: ec2.Vpc, capacity: Capacity
) -> None:
    """https://github.com/kubernetes/kops/issues/7066: spot in both is an "Incompatible launch template"."""
    _group(stack, vpc, capacity)
    assert "InstanceMarketOptions" not in _data(stack)
    assert "CapacityReservationSpecification" not in _data(stack)


def test_block_has_its_market_type_beside_its_id_and_no_placement_group(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.capacity_block(BLOCK))
    assert _data(stack)["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
    assert _target(stack) == {"CapacityReservationId": BLOCK}
    assert "Placement" not in _data(stack)
    assert "MixedInstancesPolicy" not in _properties(stack)


def test_reservation_is_targeted_without_a_market_type(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.reservation(BLOCK))
    assert _target(stack) == {"CapacityReservationId": BLOCK}
    assert "InstanceMarketOptions" not in _data(stack)
    assert "Placement" not in _data(stack)


def test_reservation_group_is_targeted_by_its_arn_in_several_zones(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.reservation_group(ARN), vpc_subnets=None)
    assert _target(stack) == {"CapacityReservationResourceGroupArn": ARN}
    assert len(_properties(stack)["VPCZoneIdentifier"]) == 2


def test_nodes_are_in_the_placement_group_of_the_reservation(stack: Stack, vpc: ec2.Vpc) -> None:
    placement = create_placement_group(stack, "Placement")
    _group(stack, vpc, Capacity.reservation(BLOCK, placement))
    assert _data(stack)["Placement"] == {"GroupName": stack.resolve(placement.placement_group_name)}
    assert warnings(stack) == []


def test_reservation_of_the_same_app_is_referred_to(stack: Stack, vpc: ec2.Vpc) -> None:
    reservation = _reservation(stack)
    _group(stack, vpc, Capacity.reservation(reservation))
    assert _target(stack) == {"CapacityReservationId": stack.resolve(reservation.attr_id)}
    assert warnings(stack) == []


def test_reservation_of_the_same_app_is_compared_with_the_nodes(stack: Stack, vpc: ec2.Vpc) -> None:
    reservation = _reservation(stack, instance_type="p5e.48xlarge", tenancy="dedicated", placement_group_arn="arn:...")
    message = _refused(_template, stack, vpc, Capacity.reservation(reservation))
    assert message.startswith("Stack/Template: 3 problems")


def test_reservation_of_the_same_app_is_no_block(stack: Stack, vpc: ec2.Vpc) -> None:
    block: Any = _reservation(stack)
    message = _refused(_template, stack, vpc, Capacity.capacity_block(block))
    assert "must be the id of a Capacity Block, which is bought and not created by CloudFormation" in message


def test_reservation_in_another_zone_or_smaller_than_the_group(stack: Stack, vpc: ec2.Vpc) -> None:
    elsewhere = Capacity.reservation(_reservation(stack, availability_zone="us-east-1b", instance_count=2))
    assert "with a reservation in us-east-1b" in _refused(_group, stack, vpc, elsewhere)
    assert warnings(stack) == []


def test_reservation_smaller_than_the_group_is_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.reservation(_reservation(stack, instance_count=2)))
    (warning,) = warnings(stack)
    assert "the group may have 4 nodes, the reservation holds 2" in warning


def test_tokens_are_passed_on_and_not_judged(stack: Stack, vpc: ec2.Vpc) -> None:
    parameter = CfnParameter(stack, "Block").value_as_string
    _group(stack, vpc, Capacity.capacity_block(parameter))
    assert _target(stack) == {"CapacityReservationId": {"Ref": "Block"}}


def test_spot_tokens_are_passed_on_and_not_judged(stack: Stack, vpc: ec2.Vpc) -> None:
    base: Any = CfnParameter(stack, "Base", type="Number").value_as_number
    max_price = CfnParameter(stack, "Price", type="Number").value_as_number
    _group(stack, vpc, Capacity.spot(base, max_price))
    distribution = _properties(stack)["MixedInstancesPolicy"]["InstancesDistribution"]
    assert distribution["OnDemandBaseCapacity"] == {"Ref": "Base"}
    assert distribution["SpotMaxPrice"] == {"Ref": "Price"}


def test_spot_is_bought_by_the_group(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.spot(on_demand_base=1, max_price=7.5))
    properties = _properties(stack)
    assert properties["CapacityRebalance"] is True
    assert "LaunchTemplate" not in properties
    assert properties["MixedInstancesPolicy"]["InstancesDistribution"] == {
        "OnDemandAllocationStrategy": "prioritized",
        "OnDemandBaseCapacity": 1,
        "OnDemandPercentageAboveBaseCapacity": 0,
        "SpotAllocationStrategy": "price-capacity-optimized",
        "SpotMaxPrice": "7.5",
    }


def test_types_are_mixed_on_demand_in_their_order(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.on_demand(), "g5.xlarge", instance_types=["g6.xlarge", "g5.xlarge", "g6.xlarge"])
    policy = _properties(stack)["MixedInstancesPolicy"]
    overrides = policy["LaunchTemplate"]["Overrides"]
    assert overrides == [{"InstanceType": "g6.xlarge"}, {"InstanceType": "g5.xlarge"}]
    assert policy["InstancesDistribution"] == {
        "OnDemandAllocationStrategy": "prioritized",
        "OnDemandPercentageAboveBaseCapacity": 100,
    }
    assert "CapacityRebalance" not in _properties(stack)


def test_mixed_types_are_each_checked(stack: Stack, vpc: ec2.Vpc) -> None:
    types = ["g5g.xlarge", "g5.xlagre", "p3dn.24xlarge"]
    message = _refused(_group, stack, vpc, Capacity.spot(), "g5.xlarge", instance_types=types)
    assert message.startswith("Stack/Nodes: 3 problems")
    assert "(closest: g5.xlarge" in message
    assert "got 'g5g.xlarge' (arm64)" in message
    assert "with V100 GPUs" in message


def test_mixed_types_with_a_block_are_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    types = ["p5.48xlarge", "p5e.48xlarge"]
    message = _refused(_group, stack, vpc, Capacity.capacity_block(BLOCK), instance_types=types)
    assert "Auto Scaling supports no mixed instances with a Capacity Block" in message


def test_block_in_several_zones_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    message = _refused(_group, stack, vpc, Capacity.capacity_block(BLOCK), vpc_subnets=None)
    assert "got subnets in 2 zones (us-east-1a, us-east-1b) with Capacity.capacity_block(...)" in message


def test_block_with_a_floor_is_refused_where_it_has_a_calendar(stack: Stack, vpc: ec2.Vpc) -> None:
    message = _refused(_group, stack, vpc, Capacity.capacity_block(BLOCK, end=END), min_capacity=1)
    assert "min_capacity must be 0: there are no nodes before the block and after it" in message


def test_block_with_a_placement_group_is_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    placement = create_placement_group(stack, "Placement")
    _template(stack, vpc, Capacity.capacity_block(BLOCK), placement_group=placement)
    (warning,) = warnings(stack)
    assert "a Capacity Block needs no placement group" in warning


def test_reservation_with_a_placement_group_beside_it_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    placement = create_placement_group(stack, "Placement")
    message = _refused(_template, stack, vpc, Capacity.reservation(BLOCK), placement_group=placement)
    assert "pass it as Capacity.reservation(..., placement_group=...)" in message


def test_all_mistakes_of_a_template_are_raised_at_once(stack: Stack, vpc: ec2.Vpc) -> None:
    capacity = Capacity.capacity_block("nonsense", END, START)
    message = _refused(_template, stack, vpc, capacity, instance_type="g5.xlarge")
    assert message.startswith("Stack/Template: 3 problems")


def test_warm_pool_added_to_a_group_in_a_block_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    group = _group(stack, vpc, Capacity.capacity_block(BLOCK))
    group.auto_scaling_group.add_warm_pool()
    with pytest.raises(RuntimeError, match="warm pool must be left out"):
        Template.from_stack(stack)


def test_warm_pool_added_to_another_group_is_accepted(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.on_demand()).auto_scaling_group.add_warm_pool()
    assert only(stack, "AWS::AutoScaling::WarmPool")


def test_nodes_may_act_on_their_own_group_without_a_circle(stack: Stack, vpc: ec2.Vpc) -> None:
    """The launch template waits for the policy of its role, and the group for the template."""
    group = _group(stack, vpc, Capacity.on_demand())
    group.grant(group, "autoscaling:SetDesiredCapacity")
    (logical_id,) = resources(stack, "AWS::AutoScaling::AutoScalingGroup")
    (statement,) = only(stack, "AWS::IAM::Policy")["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Action"] == "autoscaling:SetDesiredCapacity"
    arn = "".join(part if isinstance(part, str) else part["Ref"] for part in statement["Resource"]["Fn::Join"][1])
    assert arn == (
        "arn:AWS::Partition:autoscaling:us-east-1:111111111111:autoScalingGroup:*:"
        f"autoScalingGroupName/Stack-{logical_id}-*"
    )


def test_group_is_named_whatever_its_stack_is_called_at_deploy_time() -> None:
    stack = Stack(App(), "Agnostic")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1)
    group = _group(stack, vpc, Capacity.on_demand(), vpc_subnets=None)
    group.grant(group, "autoscaling:SetDesiredCapacity")
    assert only(stack, "AWS::IAM::Policy")
