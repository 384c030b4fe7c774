"""Stacks: created in order, rolled back, updated in place, deleted in order; and what was not done is said."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.local.conftest import StackUnderTest

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

BUCKET = {"Type": "AWS::S3::Bucket"}


def vpc(**subnet: Any) -> dict[str, Any]:
    """A VPC with everything whose deletion must come in the right order."""
    return {
        "Subnet": {
            "Type": "AWS::EC2::Subnet",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "CidrBlock": "10.0.0.0/24", **subnet},
        },
        "Association": {
            "Type": "AWS::EC2::SubnetRouteTableAssociation",
            "Properties": {"SubnetId": {"Ref": "Subnet"}, "RouteTableId": {"Ref": "Table"}},
        },
        "Table": {"Type": "AWS::EC2::RouteTable", "Properties": {"VpcId": {"Ref": "Vpc"}}},
        "Route": {
            "Type": "AWS::EC2::Route",
            "Properties": {
                "RouteTableId": {"Ref": "Table"},
                "DestinationCidrBlock": "0.0.0.0/0",
                "GatewayId": {"Ref": "Gateway"},
            },
            "DependsOn": ["Attachment"],
        },
        "Attachment": {
            "Type": "AWS::EC2::VPCGatewayAttachment",
            "Properties": {"VpcId": {"Ref": "Vpc"}, "InternetGatewayId": {"Ref": "Gateway"}},
        },
        "Gateway": {"Type": "AWS::EC2::InternetGateway"},
        "Nat": {
            "Type": "AWS::EC2::NatGateway",
            "Properties": {"SubnetId": {"Ref": "Subnet"}, "AllocationId": {"Fn::GetAtt": ["Address", "AllocationId"]}},
        },
        "Address": {"Type": "AWS::EC2::EIP", "Properties": {"Domain": "vpc"}},
        "Vpc": {"Type": "AWS::EC2::VPC", "Properties": {"CidrBlock": "10.0.0.0/16"}},
    }


def group(*rules: dict[str, Any]) -> dict[str, Any]:
    properties = {"GroupDescription": "nodes", "SecurityGroupIngress": list(rules)}
    return {"Type": "AWS::EC2::SecurityGroup", "Properties": properties}


def test_a_vpc_is_created_whatever_its_order_in_the_template_and_deleted_to_the_last_piece(
    a_stack: StackUnderTest,
) -> None:
    assert a_stack.create(vpc())["StackStatus"] == "CREATE_COMPLETE"
    vpc_id = a_stack.physical_id("Vpc")

    assert a_stack.delete() == "DELETE_COMPLETE"

    ec2 = a_stack.aws.client("ec2")
    only_this = [{"Name": "vpc-id", "Values": [vpc_id]}]
    assert ec2.describe_vpcs(Filters=only_this)["Vpcs"] == []
    assert ec2.describe_subnets(Filters=only_this)["Subnets"] == []
    assert ec2.describe_route_tables(Filters=only_this)["RouteTables"] == []
    assert ec2.describe_addresses()["Addresses"] == []


def test_each_resource_has_its_events(a_stack: StackUnderTest) -> None:
    a_stack.create({"Bucket": BUCKET})

    events = a_stack.aws.client("cloudformation").describe_stack_events(StackName=a_stack.name)["StackEvents"]

    said = [(e["LogicalResourceId"], e["ResourceStatus"]) for e in reversed(events)]
    assert said == [
        (a_stack.name, "CREATE_IN_PROGRESS"),
        ("Bucket", "CREATE_IN_PROGRESS"),
        ("Bucket", "CREATE_COMPLETE"),
        (a_stack.name, "CREATE_COMPLETE"),
    ]


def test_a_resource_that_fails_rolls_the_stack_back_and_says_why(a_stack: StackUnderTest) -> None:
    missing = {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-00000000"], "StorageCapacity": 1200}
    resources = {
        "Bucket": BUCKET,
        "FileSystem": {"Type": "AWS::FSx::FileSystem", "Properties": missing, "DependsOn": "Bucket"},
    }

    outputs = {"Outputs": {"Name": {"Value": {"Fn::GetAtt": ["Bucket", "Arn"]}}}}

    assert a_stack.create(resources, template=outputs)["StackStatus"] == "ROLLBACK_COMPLETE"

    assert a_stack.reasons("CREATE_FAILED") == ["The subnet ID 'subnet-00000000' does not exist"]
    with pytest.raises(ClientError, match="does not exist"):
        a_stack.physical_id("Bucket")


def test_a_failure_of_the_local_aws_itself_says_so_instead_of_an_html_page(a_stack: StackUnderTest) -> None:
    without_subnets = {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "LUSTRE"}}

    assert a_stack.create({"FileSystem": without_subnets})["StackStatus"] == "ROLLBACK_COMPLETE"

    assert a_stack.reasons("CREATE_FAILED") == ["the local AWS could not do this (KeyError: 'SubnetIds')"]


def test_resources_that_need_each_other_are_refused(a_stack: StackUnderTest) -> None:
    circle = {"A": {**BUCKET, "DependsOn": "B"}, "B": {**BUCKET, "DependsOn": "A"}}

    with pytest.raises(ClientError, match=r"Circular dependency between resources: \[A, B\]"):
        a_stack.create(circle)


def test_an_unknown_ssm_parameter_is_an_error_that_names_it(a_stack: StackUnderTest) -> None:
    parameter = {"Type": "AWS::SSM::Parameter::Value<String>", "Default": "/aws/service/deeplearning/ami/nothing"}

    with pytest.raises(ClientError, match="/aws/service/deeplearning/ami/nothing"):
        a_stack.create({"Bucket": BUCKET}, template={"Parameters": {"Image": parameter}})


def test_an_update_changes_in_place_adds_and_removes(a_stack: StackUnderTest) -> None:
    from_office = {"IpProtocol": "tcp", "FromPort": 443, "ToPort": 443, "CidrIp": "192.0.2.0/24"}
    a_stack.create({"Group": group(), "Old": BUCKET})
    group_id = a_stack.physical_id("Group")

    assert a_stack.update({"Group": group(from_office), "New": BUCKET})["StackStatus"] == "UPDATE_COMPLETE"

    assert a_stack.physical_id("Group") == group_id
    found = a_stack.aws.client("ec2").describe_security_groups(GroupIds=[group_id])["SecurityGroups"][0]
    assert [p["FromPort"] for p in found["IpPermissions"]] == [443]
    assert a_stack.physical_id("New")
    with pytest.raises(ClientError, match="Old"):
        a_stack.physical_id("Old")


def test_what_refers_to_a_changed_parameter_changes_with_it(a_stack: StackUnderTest) -> None:
    resources = {"Name": {"Type": "AWS::SSM::Parameter", "Properties": {"Type": "String", "Value": {"Ref": "Value"}}}}
    parameters = {"Parameters": {"Value": {"Type": "String"}}}
    for value in ("before", "after"):
        apply = a_stack.create if value == "before" else a_stack.update
        apply(resources, template=parameters, Parameters=[{"ParameterKey": "Value", "ParameterValue": value}])

    name = a_stack.physical_id("Name")
    assert a_stack.aws.client("ssm").get_parameter(Name=name)["Parameter"]["Value"] == "after"


def test_an_update_that_fails_goes_back_to_what_was_there(a_stack: StackUnderTest) -> None:
    a_stack.create({"Group": group()})
    broken = {"Type": "AWS::FSx::FileSystem", "Properties": {"FileSystemType": "LUSTRE", "SubnetIds": ["subnet-0"]}}
    everyone = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}

    stack = a_stack.update({"Group": group(everyone), "FileSystem": {**broken, "DependsOn": "Group"}})

    assert stack["StackStatus"] == "UPDATE_ROLLBACK_COMPLETE"
    assert a_stack.reasons("CREATE_FAILED") == ["The subnet ID 'subnet-0' does not exist"]
    group_id = a_stack.physical_id("Group")
    found = a_stack.aws.client("ec2").describe_security_groups(GroupIds=[group_id])["SecurityGroups"][0]
    assert found["IpPermissions"] == []


def test_a_change_to_a_type_that_cannot_be_updated_is_listed(a_stack: StackUnderTest) -> None:
    a_stack.create(vpc())

    a_stack.update(vpc(MapPublicIpOnLaunch=True))

    assert a_stack.unfinished["not_updated"] == {"Subnet": "AWS::EC2::Subnet"}


def test_an_unknown_type_is_stood_in_for_and_listed(a_stack: StackUnderTest) -> None:
    resources = {
        "Domain": {"Type": "AWS::Cloud9::EnvironmentEC2", "Properties": {"InstanceType": "t3.micro"}},
        "Name": {
            "Type": "AWS::SSM::Parameter",
            "Properties": {"Type": "String", "Value": {"Fn::GetAtt": ["Domain", "Arn"]}},
        },
    }

    assert a_stack.create(resources)["StackStatus"] == "CREATE_COMPLETE"

    assert a_stack.unfinished == {
        "not_created": {"Domain": "AWS::Cloud9::EnvironmentEC2"},
        "not_run": {},
        "not_updated": {},
    }
    value = a_stack.aws.client("ssm").get_parameter(Name=a_stack.physical_id("Name"))["Parameter"]["Value"]
    assert "not-created" in value


def test_a_custom_resource_is_answered_and_listed_as_not_run(a_stack: StackUnderTest) -> None:
    resources = {"Restrict": {"Type": "Custom::VpcRestrictDefaultSG", "Properties": {"ServiceToken": "arn:aws:lambda"}}}

    assert a_stack.create(resources)["StackStatus"] == "CREATE_COMPLETE"

    assert a_stack.unfinished["not_run"] == {"Restrict": "Custom::VpcRestrictDefaultSG"}


def test_a_false_condition_creates_nothing_and_is_nothing_to_list(a_stack: StackUnderTest) -> None:
    never = {"Conditions": {"Never": {"Fn::Equals": ["a", "b"]}}}

    a_stack.create({"Bucket": BUCKET, "Other": {"Type": "AWS::X::Y", "Condition": "Never"}}, template=never)

    assert a_stack.unfinished["not_created"] == {}


def test_deleting_keeps_what_its_policy_keeps(a_stack: StackUnderTest) -> None:
    a_stack.create({"Kept": {**BUCKET, "DeletionPolicy": "Retain"}, "Gone": BUCKET})
    kept, gone = a_stack.physical_id("Kept"), a_stack.physical_id("Gone")

    assert a_stack.delete() == "DELETE_COMPLETE"

    names = {bucket["Name"] for bucket in a_stack.aws.client("s3").list_buckets()["Buckets"]}
    assert kept in names
    assert gone not in names


def test_a_bucket_with_objects_fails_the_deletion_as_on_aws(a_stack: StackUnderTest) -> None:
    a_stack.create({"Bucket": BUCKET})
    bucket = a_stack.physical_id("Bucket")
    a_stack.aws.client("s3").put_object(Bucket=bucket, Key="checkpoint", Body=b"1")

    assert a_stack.delete() == "DELETE_FAILED"
    assert a_stack.reasons("DELETE_FAILED")[0] == "The bucket you tried to delete is not empty"

    a_stack.aws.client("s3").delete_object(Bucket=bucket, Key="checkpoint")
    assert a_stack.delete() == "DELETE_COMPLETE"


def test_a_type_that_cannot_be_deleted_is_said_to_stay(a_stack: StackUnderTest) -> None:
    a_stack.create({"Cluster": {"Type": "AWS::ECS::Cluster"}})

    a_stack.aws.client("cloudformation").delete_stack(StackName=a_stack.name)

    stack_id = next(
        s["StackId"]
        for s in a_stack.aws.client("cloudformation").list_stacks()["StackSummaries"]
        if s["StackName"] == a_stack.name
    )
    events = a_stack.aws.client("cloudformation").describe_stack_events(StackName=stack_id)["StackEvents"]
    reasons = [e["ResourceStatusReason"] for e in events if e["ResourceStatus"] == "DELETE_SKIPPED"]
    assert reasons == ["the local AWS cannot delete this type; it stays until the local AWS is stopped"]


def test_change_sets_create_and_update_with_outputs(a_stack: StackUnderTest) -> None:
    cloudformation = a_stack.aws.client("cloudformation")
    for kind, buckets in (("CREATE", 1), ("UPDATE", 2)):
        resources = {f"Bucket{n}": BUCKET for n in range(buckets)}
        template = {"Resources": resources, "Outputs": {"Count": {"Value": str(buckets)}}}
        made = cloudformation.create_change_set(
            StackName=a_stack.name, ChangeSetName="change", ChangeSetType=kind, TemplateBody=json.dumps(template)
        )
        cloudformation.execute_change_set(ChangeSetName=made["Id"])

        assert a_stack.describe()["StackStatus"] == f"{kind}_COMPLETE"
        assert a_stack.describe()["Outputs"][0]["OutputValue"] == str(buckets)
        assert a_stack.physical_id(f"Bucket{buckets - 1}")
        for _ in range(2):  # the second time there is none
            cloudformation.delete_change_set(StackName=a_stack.name, ChangeSetName="change")
