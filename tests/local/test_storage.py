"""File systems, links and volumes as the constructs render them, created in the local AWS."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

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
