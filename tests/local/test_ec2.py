"""What the local AWS adds to EC2, seen through boto3."""

from __future__ import annotations

import pytest
from botocore.exceptions import ClientError

from gpu_constructs.local import LocalAws
from tests.local.conftest import StackUnderTest

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_placement_groups_are_created_described_and_deleted(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")

    ec2.create_placement_group(GroupName="by-hand", Strategy="cluster")

    (group,) = ec2.describe_placement_groups(GroupNames=["by-hand"])["PlacementGroups"]
    assert (group["Strategy"], group["State"]) == ("cluster", "available")
    with pytest.raises(ClientError, match="The Placement Group 'by-hand' already exists"):
        ec2.create_placement_group(GroupName="by-hand", Strategy="cluster")
    ec2.delete_placement_group(GroupName="by-hand")
    with pytest.raises(ClientError, match="The Placement Group 'by-hand' is unknown"):
        ec2.describe_placement_groups(GroupNames=["by-hand"])


def test_a_placement_group_of_a_stack_lives_and_dies_with_it(a_stack: StackUnderTest) -> None:
    a_stack.create({"Group": {"Type": "AWS::EC2::PlacementGroup", "Properties": {"Strategy": "cluster"}}})
    name = a_stack.physical_id("Group")
    ec2 = a_stack.aws.client("ec2")

    assert name in {group["GroupName"] for group in ec2.describe_placement_groups()["PlacementGroups"]}
    a_stack.delete()
    assert name not in {group["GroupName"] for group in ec2.describe_placement_groups()["PlacementGroups"]}


def test_capacity_reservations_are_made_described_and_cancelled(local_aws: LocalAws) -> None:
    ec2 = local_aws.client("ec2")
    made = ec2.create_capacity_reservation(
        InstanceType="p5.48xlarge",
        InstancePlatform="Linux/UNIX",
        AvailabilityZone="us-east-1a",
        InstanceCount=4,
        InstanceMatchCriteria="targeted",
    )["CapacityReservation"]

    ids = [made["CapacityReservationId"]]
    (found,) = ec2.describe_capacity_reservations(CapacityReservationIds=ids)["CapacityReservations"]
    assert (found["State"], found["AvailableInstanceCount"], found["InstanceMatchCriteria"]) == (
        "active",
        4,
        "targeted",
    )
    ec2.cancel_capacity_reservation(CapacityReservationId=ids[0])
    (found,) = ec2.describe_capacity_reservations(CapacityReservationIds=ids)["CapacityReservations"]
    assert (found["State"], found["AvailableInstanceCount"]) == ("cancelled", 0)
    with pytest.raises(ClientError, match="The Capacity Reservation ID 'cr-0' does not exist"):
        ec2.describe_capacity_reservations(CapacityReservationIds=["cr-0"])


def test_a_capacity_reservation_of_a_stack(a_stack: StackUnderTest) -> None:
    reservation = {
        "Type": "AWS::EC2::CapacityReservation",
        "Properties": {
            "InstanceType": "p4d.24xlarge",
            "InstancePlatform": "Linux/UNIX",
            "AvailabilityZone": "us-east-1a",
            "InstanceCount": 2,
        },
    }
    outputs = {"Outputs": {"Zone": {"Value": {"Fn::GetAtt": ["Reservation", "AvailabilityZone"]}}}}

    stack = a_stack.create({"Reservation": reservation}, template=outputs)

    assert stack["Outputs"][0]["OutputValue"] == "us-east-1a"
    assert a_stack.physical_id("Reservation").startswith("cr-")


def test_a_security_group_has_all_its_rules_and_the_first_egress_resource_takes_the_default_away(
    a_stack: StackUnderTest,
) -> None:
    group = {"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "nodes"}}
    itself = {"GroupId": {"Fn::GetAtt": ["Group", "GroupId"]}, "IpProtocol": "-1"}
    peer = {"Fn::GetAtt": ["Group", "GroupId"]}
    rules = {
        "In": {"Type": "AWS::EC2::SecurityGroupIngress", "Properties": {**itself, "SourceSecurityGroupId": peer}},
        "Out": {"Type": "AWS::EC2::SecurityGroupEgress", "Properties": {**itself, "DestinationSecurityGroupId": peer}},
    }
    describe = a_stack.aws.client("ec2").describe_security_groups

    a_stack.create({"Group": group})
    group_id = a_stack.physical_id("Group")
    (found,) = describe(GroupIds=[group_id])["SecurityGroups"]
    assert [p["IpRanges"] for p in found["IpPermissionsEgress"]] == [[{"CidrIp": "0.0.0.0/0"}]]

    a_stack.update({"Group": group, **rules})
    (found,) = describe(GroupIds=[group_id])["SecurityGroups"]
    for direction in ("IpPermissions", "IpPermissionsEgress"):
        assert [pair["GroupId"] for p in found[direction] for pair in p["UserIdGroupPairs"]] == [group_id]
        assert [p["IpRanges"] for p in found[direction]] == [[]]

    a_stack.update({"Group": group})
    (found,) = describe(GroupIds=[group_id])["SecurityGroups"]
    assert found["IpPermissions"] == []
