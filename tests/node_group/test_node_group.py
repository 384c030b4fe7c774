from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2

from gpu_constructs import GpuConstructsError, GpuLaunchTemplate, GpuNodeGroup
from gpu_constructs.checks import UNKNOWN
from gpu_constructs.network.placement import create_placement_group
from gpu_constructs.node_group import sizes
from tests.conftest import only, warnings


def _group(stack: Stack, vpc: ec2.Vpc, *, placed: bool = False, **options: Any) -> GpuNodeGroup:
    template = GpuLaunchTemplate(
        stack,
        "Template",
        instance_type="p4d.24xlarge",
        vpc=vpc,
        placement_group=create_placement_group(stack, "Placement") if placed else None,
    )
    return GpuNodeGroup(stack, "Nodes", launch_template=template, **{"max_capacity": 4, **options})


def test_group_has_the_sizes_given_and_keeps_the_running_one(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, desired_capacity=3)
    resource = only(stack, "AWS::AutoScaling::AutoScalingGroup")
    properties = resource["Properties"]
    assert [properties[name] for name in ("MinSize", "DesiredCapacity", "MaxSize")] == ["0", "3", "4"]
    assert resource["UpdatePolicy"] == {"AutoScalingScheduledAction": {"IgnoreUnmodifiedGroupSizeProperties": True}}


def test_group_without_a_desired_size_sets_none(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc)
    assert "DesiredCapacity" not in only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]


def test_stack_does_not_wait_for_nodes(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, desired_capacity=3)
    assert "CreationPolicy" not in only(stack, "AWS::AutoScaling::AutoScalingGroup")


def test_warning_of_cdk_about_the_desired_size_is_answered(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, desired_capacity=3)
    assert warnings(stack) == []


def test_group_starts_nodes_from_the_newest_version_of_the_template(stack: Stack, vpc: ec2.Vpc) -> None:
    group = _group(stack, vpc)
    template = group.launch_template.launch_template
    assert only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]["LaunchTemplate"] == {
        "LaunchTemplateId": stack.resolve(template.launch_template_id),
        "Version": stack.resolve(template.latest_version_number),
    }


def test_nodes_are_in_the_private_subnets(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc)
    assert only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]["VPCZoneIdentifier"] == [
        stack.resolve(subnet.subnet_id) for subnet in vpc.private_subnets
    ]


def test_connections_are_those_of_the_template(stack: Stack, vpc: ec2.Vpc) -> None:
    group = _group(stack, vpc)
    (found,) = group.connections.security_groups
    assert found.security_group_id == group.launch_template.security_group.security_group_id


def test_all_mistakes_are_raised_at_once(stack: Stack, vpc: ec2.Vpc) -> None:
    public = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC)
    with pytest.raises(GpuConstructsError, match="Stack/Nodes: 3 problems") as raised:
        _group(stack, vpc, placed=True, vpc_subnets=public, desired_capacity=5)
    assert "got min_capacity=0, max_capacity=4, desired_capacity=5" in str(raised.value)
    assert "got a public subnet for nodes with 5 network interfaces" in str(raised.value)
    assert "got subnets in 2 zones (us-east-1a, us-east-1b) for nodes in a placement group" in str(raised.value)


def test_selection_that_cdk_refuses_is_a_problem_of_ours(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match="got a selection that CDK refuses"):
        _group(stack, vpc, vpc_subnets=ec2.SubnetSelection(subnet_group_name="Nonsense"))


def test_sizes_known_only_at_deploy_time_are_not_judged(stack: Stack, vpc: ec2.Vpc) -> None:
    most = CfnParameter(stack, "Most", type="Number").value_as_number
    _group(stack, vpc, max_capacity=most)
    assert only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]["MaxSize"] == {"Ref": "Most"}


@pytest.mark.parametrize(
    ("least", "wanted", "most"), [(0, None, 0), (0, 2, 3), (2, 2, 2), (UNKNOWN, 2, 3), (5, UNKNOWN, 5), (0, 1, UNKNOWN)]
)
def test_sizes_are_accepted(least: Any, wanted: Any, most: Any) -> None:
    assert sizes.problems(min_capacity=least, desired_capacity=wanted, max_capacity=most) == []


@pytest.mark.parametrize(("least", "wanted", "most"), [(4, None, 3), (0, 4, 3), (2, 1, 3), (4, UNKNOWN, 3)])
def test_sizes_out_of_order_are_refused(least: Any, wanted: Any, most: Any) -> None:
    (problem,) = sizes.problems(min_capacity=least, desired_capacity=wanted, max_capacity=most)
    assert "Desired capacity must be between the specified min size and max size" in str(problem)


def test_negative_size_is_refused() -> None:
    (problem,) = sizes.problems(min_capacity=-1, desired_capacity=None, max_capacity=3)
    assert "min_capacity must be a whole number of at least 0, got -1" in str(problem)


def test_launch_template_of_cdk_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    """Imported, it would give the group no connections, no role and no user data."""
    imported: Any = ec2.LaunchTemplate.from_launch_template_attributes(stack, "Imported", launch_template_id="lt-1")
    with pytest.raises(GpuConstructsError, match="launch_template must be a GpuLaunchTemplate"):
        GpuNodeGroup(stack, "Nodes", launch_template=imported, max_capacity=1)


def test_dictionaries_in_place_of_structs_are_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    """CDK drops their snake_case keys without a word, or fails in words of its own."""
    hook: Any = {"lifecycle_hook_name": "booted", "lifecycle_transition": "autoscaling:EC2_INSTANCE_LAUNCHING"}
    subnets: Any = {"subnet_type": ec2.SubnetType.PRIVATE_WITH_EGRESS}
    with pytest.raises(GpuConstructsError) as raised:
        _group(stack, vpc, lifecycle_hooks=[hook], vpc_subnets=subnets)
    assert "vpc_subnets must be an ec2.SubnetSelection, got a dict" in str(raised.value)
    assert "LifecycleHookSpecificationProperty, got a dict" in str(raised.value)


def test_structs_are_accepted(stack: Stack, vpc: ec2.Vpc) -> None:
    hook = autoscaling.CfnAutoScalingGroup.LifecycleHookSpecificationProperty(
        lifecycle_hook_name="leaving", lifecycle_transition="autoscaling:EC2_INSTANCE_TERMINATING"
    )
    subnets = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)
    _group(stack, vpc, lifecycle_hooks=[hook], vpc_subnets=subnets)
    (found,) = only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]["LifecycleHookSpecificationList"]
    assert found["LifecycleHookName"] == "leaving"
