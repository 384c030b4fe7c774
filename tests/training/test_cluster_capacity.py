from __future__ import annotations

from datetime import datetime, timezone

import pytest
from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2

from gpu_constructs import Capacity
from tests.conftest import only, resources, warnings
from tests.training.made import make_cluster, refusal

RESERVATION = "cr-0123456789abcdef0"
GROUP = "arn:aws:resource-groups:us-east-1:111111111111:group/reservations"
START = datetime(2027, 1, 4, 11, 30, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("capacity", "desired", "most", "placed"),
    [
        (Capacity.on_demand(), "2", "3", True),
        (Capacity.spot(), "2", "3", True),
        (Capacity.reservation(RESERVATION), "2", "2", False),
        (Capacity.reservation_group(GROUP), "2", "2", False),
        (Capacity.capacity_block(RESERVATION), "2", "2", False),
        (Capacity.capacity_block(RESERVATION, start=START), "0", "2", False),
    ],
)
def test_sizes_and_placement_follow_from_the_capacity(
    stack: Stack, capacity: Capacity, desired: str, most: str, placed: bool
) -> None:
    make_cluster(stack, capacity=capacity, availability_zone="us-east-1a")
    properties = only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]
    assert [properties[name] for name in ("MinSize", "DesiredCapacity", "MaxSize")] == ["0", desired, most]
    assert bool(resources(stack, "AWS::EC2::PlacementGroup")) == placed
    data = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    assert ("Placement" in data) == placed
    assert warnings(stack) == []


@pytest.mark.parametrize("capacity", [Capacity.on_demand(), Capacity.spot(), Capacity.capacity_block(RESERVATION)])
def test_stack_does_not_wait_for_nodes_that_aws_may_not_have(stack: Stack, capacity: Capacity) -> None:
    make_cluster(stack, capacity=capacity)
    assert "CreationPolicy" not in only(stack, "AWS::AutoScaling::AutoScalingGroup")


def test_nodes_are_in_the_placement_group_of_the_reservation_alone(stack: Stack) -> None:
    placement = ec2.PlacementGroup(stack, "Placement", strategy=ec2.PlacementGroupStrategy.CLUSTER)
    make_cluster(stack, capacity=Capacity.reservation(RESERVATION, placement), availability_zone="us-east-1a")
    data = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    assert data["Placement"] == {"GroupName": stack.resolve(placement.placement_group_name)}
    assert len(resources(stack, "AWS::EC2::PlacementGroup")) == 1


def _reservation(stack: Stack) -> ec2.CfnCapacityReservation:
    return ec2.CfnCapacityReservation(
        stack,
        "Reservation",
        instance_type="p4d.24xlarge",
        instance_platform="Linux/UNIX",
        instance_count=2,
        availability_zone="us-east-1b",
    )


def test_zone_is_that_of_a_reservation_of_the_same_app(stack: Stack, vpc: ec2.Vpc) -> None:
    make_cluster(stack, vpc=vpc, capacity=Capacity.reservation(_reservation(stack)))
    subnet = [stack.resolve(vpc.private_subnets[1].subnet_id)]
    assert only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]["VPCZoneIdentifier"] == subnet
    assert warnings(stack) == []


def test_zone_of_the_vpc_is_that_of_a_reservation_of_the_same_app(stack: Stack) -> None:
    cluster = make_cluster(stack, capacity=Capacity.reservation(_reservation(stack)))
    assert cluster.vpc.availability_zones == ["us-east-1b"]
    assert warnings(stack) == []


def test_zone_other_than_that_of_the_reservation_is_refused(stack: Stack) -> None:
    capacity = Capacity.reservation(_reservation(stack))
    message = refusal(stack, capacity=capacity, availability_zone="us-east-1a")
    assert (
        "availability_zone must be that of the reservation, got us-east-1a, with a reservation in us-east-1b" in message
    )


@pytest.mark.parametrize("capacity", [Capacity.reservation(RESERVATION), Capacity.capacity_block(RESERVATION)])
def test_first_zone_of_the_account_is_warned_of_where_capacity_is_reserved(stack: Stack, capacity: Capacity) -> None:
    make_cluster(stack, capacity=capacity)
    (warning,) = warnings(stack)
    assert "pass as availability_zone" in warning


def test_reserved_capacity_needs_a_zone_where_the_vpc_has_several(stack: Stack, vpc: ec2.Vpc) -> None:
    message = refusal(stack, vpc=vpc, capacity=Capacity.capacity_block(RESERVATION))
    assert "availability_zone must be one of the zones of the subnets, got none" in message


def test_mistakes_about_capacity_are_in_the_one_message(stack: Stack) -> None:
    capacity = Capacity.capacity_block("block", START, START)
    message = refusal(stack, instance_type="g5.48xlarge", node_count=0, capacity=capacity)
    assert message.startswith("Stack/Cluster: 4 problems")
