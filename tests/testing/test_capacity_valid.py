"""What an override writes past the constructs is found in the template."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import CfnResource, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from gpu_constructs import Capacity, GpuLaunchTemplate, GpuNodeGroup, TrainingCluster
from gpu_constructs.testing import assert_capacity_valid
from tests.training.made import make_cluster

BLOCK = "cr-0123456789abcdef0"
GROUP = "AWS::AutoScaling::AutoScalingGroup"


def _override(cluster: TrainingCluster, path: str, value: Any) -> None:
    template = cluster.launch_template.node.default_child
    assert isinstance(template, CfnResource)
    template.add_property_override(f"LaunchTemplateData.{path}", value)


@pytest.mark.parametrize(
    "capacity", [Capacity.on_demand(), Capacity.spot(), Capacity.reservation(BLOCK), Capacity.capacity_block(BLOCK)]
)
def test_what_the_constructs_write_is_valid(stack: Stack, capacity: Capacity) -> None:
    make_cluster(stack, capacity=capacity)
    assert_capacity_valid(Template.from_stack(stack))


@pytest.mark.parametrize(
    ("capacity", "path", "value", "message"),
    [
        (Capacity.spot(), "InstanceMarketOptions.MarketType", "spot", "Incompatible launch template"),
        (
            Capacity.on_demand(),
            "InstanceMarketOptions",
            {"MarketType": "spot", "SpotOptions": {"InstanceInterruptionBehavior": "hibernate"}},
            "got hibernate with a placement group",
        ),
        (Capacity.on_demand(), "Placement.Tenancy", "host", "got host with a placement group"),
        (
            Capacity.reservation(BLOCK),
            "CapacityReservationSpecification.CapacityReservationPreference",
            "none",
            "got none beside a target",
        ),
        (Capacity.on_demand(), "InstanceMarketOptions.MarketType", "capacity-block", "CapacityReservationTarget must"),
        (Capacity.capacity_block(BLOCK), "Placement.Tenancy", "dedicated", "got dedicated with a Capacity Block"),
    ],
)
def test_override_of_the_launch_template_is_found(
    stack: Stack, capacity: Capacity, path: str, value: Any, message: str
) -> None:
    cluster = make_cluster(stack, capacity=capacity)
    _override(cluster, path, value)
    with pytest.raises(AssertionError, match=message):
        assert_capacity_valid(Template.from_stack(stack))


def test_policy_and_warm_pool_of_a_block_are_found(stack: Stack) -> None:
    make_cluster(stack, capacity=Capacity.capacity_block(BLOCK))
    template: dict[str, Any] = dict(Template.from_stack(stack).to_json())
    (name,) = (name for name, found in template["Resources"].items() if found["Type"] == GROUP)
    group = template["Resources"][name]["Properties"]
    group["MixedInstancesPolicy"] = {"LaunchTemplate": {"LaunchTemplateSpecification": group.pop("LaunchTemplate")}}
    template["Resources"]["Pool"] = {
        "Type": "AWS::AutoScaling::WarmPool",
        "Properties": {"AutoScalingGroupName": {"Ref": name}},
    }
    with pytest.raises(AssertionError) as raised:
        assert_capacity_valid(template)
    assert "MixedInstancesPolicy must be left out" in str(raised.value)
    assert "warm pool must be left out" in str(raised.value)


def test_launch_template_without_a_group_is_judged(stack: Stack, vpc: ec2.Vpc) -> None:
    template = GpuLaunchTemplate(stack, "Template", instance_type="p5.48xlarge", vpc=vpc)
    resource = template.launch_template.node.default_child
    assert isinstance(resource, CfnResource)
    resource.add_property_override("LaunchTemplateData.InstanceMarketOptions.MarketType", "capacity-block")
    with pytest.raises(AssertionError, match="CapacityReservationTarget must be the id of the Capacity Block"):
        assert_capacity_valid(Template.from_stack(stack))


def test_warm_pool_of_a_group_on_demand_is_valid(stack: Stack, vpc: ec2.Vpc) -> None:
    template = GpuLaunchTemplate(stack, "Template", instance_type="g5.xlarge", vpc=vpc)
    GpuNodeGroup(stack, "Nodes", launch_template=template, max_capacity=1).auto_scaling_group.add_warm_pool()
    assert_capacity_valid(Template.from_stack(stack))


def test_nothing_to_check_is_said() -> None:
    with pytest.raises(AssertionError, match="no AWS::EC2::LaunchTemplate"):
        assert_capacity_valid({"Resources": {}})
