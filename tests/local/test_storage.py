"""File systems, links and volumes as the constructs render them, created in the local AWS."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, DefaultStackSynthesizer, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from examples.imported.stack import Existing, ImportedStack
from gpu_constructs import Lustre, LustreStorage
from gpu_constructs.local import LocalAws
from tests.local.conftest import StackUnderTest

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def _rendered(lustre: Lustre) -> dict[str, Any]:
    stack = Stack(App(), "Stack")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=1, nat_gateways=0, restrict_default_security_group=False)
    subnet = vpc.public_subnets[0]
    bucket = s3.Bucket(stack, "Bucket")
    LustreStorage(stack, "Data", vpc=vpc, subnet=subnet, lustre=lustre.linked_to(bucket, "/images", "train/"))
    resources: dict[str, Any] = Template.from_stack(stack).to_json()["Resources"]
    return resources


def _file_systems(aws: LocalAws) -> dict[str, Any]:
    return {found["FileSystemId"]: found for found in aws.client("fsx").describe_file_systems()["FileSystems"]}


@pytest.mark.parametrize(
    ("lustre", "expected"),
    [
        (
            Lustre.persistent(4800, 1000, efa=True),
            {"DeploymentType": "PERSISTENT_2", "EfaEnabled": True, "MetadataConfiguration": {"Mode": "AUTOMATIC"}},
        ),
        (Lustre.hdd(6000, 12), {"DeploymentType": "PERSISTENT_1", "DriveCacheType": "NONE"}),
        (Lustre.intelligent_tiering(4000, 0), {"DeploymentType": "PERSISTENT_2", "ThroughputCapacity": 4000}),
    ],
    ids=["efa", "hdd", "intelligent-tiering"],
)
def test_file_system_and_its_link_are_created(
    a_stack: StackUnderTest, local_aws: LocalAws, lustre: Lustre, expected: dict[str, Any]
) -> None:
    resources = _rendered(lustre)
    assert a_stack.create(resources)["StackStatus"] == "CREATE_COMPLETE", a_stack.reasons("CREATE_FAILED")
    (logical_id,) = (name for name, resource in resources.items() if resource["Type"] == "AWS::FSx::FileSystem")
    file_system_id = a_stack.physical_id(logical_id)
    configuration = _file_systems(local_aws)[file_system_id]["LustreConfiguration"]
    assert {name: configuration.get(name) for name in expected} == expected
    (link,) = local_aws.client("fsx").describe_data_repository_associations(
        Filters=[{"Name": "file-system-id", "Values": [file_system_id]}]
    )["Associations"]
    assert link["FileSystemPath"] == "/images"
    assert link["DataRepositoryPath"].endswith("/train/")


def _existing(aws: LocalAws) -> Existing:
    """A VPC and a file system that somebody else has created."""
    ec2_client = aws.client("ec2")
    vpc_id = ec2_client.create_vpc(CidrBlock="10.7.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2_client.create_subnet(VpcId=vpc_id, CidrBlock="10.7.0.0/24")["Subnet"]
    table_id = ec2_client.create_route_table(VpcId=vpc_id)["RouteTable"]["RouteTableId"]
    group_id = ec2_client.create_security_group(VpcId=vpc_id, GroupName="lustre", Description="x")["GroupId"]
    file_system = aws.client("fsx").create_file_system(
        FileSystemType="LUSTRE",
        StorageCapacity=1200,
        SubnetIds=[subnet["SubnetId"]],
        SecurityGroupIds=[group_id],
        LustreConfiguration={"DeploymentType": "SCRATCH_2"},
    )["FileSystem"]
    return Existing(
        vpc_id=vpc_id,
        subnet_id=subnet["SubnetId"],
        availability_zone=subnet["AvailabilityZone"],
        route_table_id=table_id,
        file_system_id=file_system["FileSystemId"],
        mount_name=file_system["LustreConfiguration"]["MountName"],
        security_group_id=group_id,
    )


def test_imported_example_is_created_beside_what_exists_and_leaves_it(
    a_stack: StackUnderTest, local_aws: LocalAws
) -> None:
    existing = _existing(local_aws)
    # Without the rule that asks for a bootstrapped account: no command line takes part here.
    app = App(default_stack_synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False))
    template = Template.from_stack(ImportedStack(app, "ImportedStack", existing=existing)).to_json()

    def rules() -> set[tuple[int, int]]:
        (group,) = local_aws.client("ec2").describe_security_groups(GroupIds=[existing.security_group_id])[
            "SecurityGroups"
        ]
        return {(rule["FromPort"], rule["ToPort"]) for rule in group["IpPermissions"]}

    created = a_stack.create(
        template["Resources"],
        template={"Parameters": template["Parameters"]},
        Capabilities=["CAPABILITY_IAM"],
    )
    assert created["StackStatus"] == "CREATE_COMPLETE", a_stack.reasons("CREATE_FAILED")
    assert rules() == {(988, 988), (1018, 1023)}
    assert a_stack.delete() == "DELETE_COMPLETE"
    assert rules() == set()
    assert existing.file_system_id in _file_systems(local_aws)
