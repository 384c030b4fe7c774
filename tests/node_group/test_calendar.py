from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2

from gpu_constructs import Capacity, GpuLaunchTemplate, GpuNodeGroup
from tests.conftest import only, resources

BLOCK = "cr-0123456789abcdef0"
# The same moments as 11:30 UTC, written elsewhere.
SEOUL = timezone(timedelta(hours=9))
START = datetime(2027, 1, 4, 20, 30, tzinfo=SEOUL)
END = datetime(2027, 1, 18, 20, 30, tzinfo=SEOUL)


def _group(stack: Stack, vpc: ec2.Vpc, capacity: Capacity, **options: Any) -> GpuNodeGroup:
    template = GpuLaunchTemplate(stack, "Template", instance_type="p5.48xlarge", vpc=vpc, capacity=capacity)
    subnets = ec2.SubnetSelection(subnets=vpc.private_subnets[:1])
    return GpuNodeGroup(stack, "Nodes", launch_template=template, vpc_subnets=subnets, **{"max_capacity": 4, **options})


def _actions(stack: Stack) -> list[tuple[str, int]]:
    found = [action["Properties"] for action in resources(stack, "AWS::AutoScaling::ScheduledAction").values()]
    return sorted((action["StartTime"], action["DesiredCapacity"]) for action in found)


def _sizes(stack: Stack) -> list[str | None]:
    properties = only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]
    return [properties.get(name) for name in ("MinSize", "DesiredCapacity", "MaxSize")]


def test_nodes_come_at_the_start_and_leave_45_minutes_before_the_end(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.capacity_block(BLOCK, START, END), desired_capacity=3)
    assert _actions(stack) == [("2027-01-04T11:30:00Z", 3), ("2027-01-18T10:45:00Z", 0)]
    assert _sizes(stack) == ["0", "0", "4"]


def test_all_of_a_block_is_used_by_default(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.capacity_block(BLOCK, start=START))
    assert _actions(stack) == [("2027-01-04T11:30:00Z", 4)]
    assert _sizes(stack) == ["0", "0", "4"]


def test_block_that_runs_has_its_nodes_at_once(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.capacity_block(BLOCK, end=END), desired_capacity=3)
    assert _actions(stack) == [("2027-01-18T10:45:00Z", 0)]
    assert _sizes(stack) == ["0", "3", "4"]


def test_block_without_moments_has_no_actions(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.capacity_block(BLOCK), desired_capacity=3)
    assert _actions(stack) == []
    assert _sizes(stack) == ["0", "3", "4"]


def test_actions_are_on_the_group(stack: Stack, vpc: ec2.Vpc) -> None:
    group = _group(stack, vpc, Capacity.capacity_block(BLOCK, START))
    name = stack.resolve(group.auto_scaling_group.auto_scaling_group_name)
    assert only(stack, "AWS::AutoScaling::ScheduledAction")["Properties"]["AutoScalingGroupName"] == name


def test_rule_matches_both_spellings_of_the_expiry_of_this_block(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Capacity.capacity_block(BLOCK))
    assert only(stack, "AWS::Events::Rule")["Properties"]["EventPattern"] == {
        "source": ["aws.ec2"],
        "detail-type": ["Capacity Block Expiration Warning", "Capacity Block Reservation Expiration Warning"],
        "detail": {"capacity-reservation-id": [BLOCK]},
    }


def test_rule_tells_a_topic_that_eventbridge_may_publish_to(stack: Stack, vpc: ec2.Vpc) -> None:
    group = _group(stack, vpc, Capacity.capacity_block(BLOCK))
    assert group.calendar is not None
    topic = stack.resolve(group.calendar.expiry_topic.topic_arn)
    (target,) = only(stack, "AWS::Events::Rule")["Properties"]["Targets"]
    assert target["Arn"] == topic
    statements = only(stack, "AWS::SNS::TopicPolicy")["Properties"]["PolicyDocument"]["Statement"]
    allowed = [statement for statement in statements if statement["Effect"] == "Allow"]
    assert [(one["Principal"], one["Action"], one["Resource"]) for one in allowed] == [
        ({"Service": "events.amazonaws.com"}, "sns:Publish", topic)
    ]


def test_only_a_block_has_a_calendar(stack: Stack, vpc: ec2.Vpc) -> None:
    assert _group(stack, vpc, Capacity.reservation(BLOCK)).calendar is None
    for kind in ("AWS::AutoScaling::ScheduledAction", "AWS::Events::Rule", "AWS::SNS::Topic"):
        assert resources(stack, kind) == {}
