"""What the local AWS adds to FSx for Lustre, seen through boto3."""

from __future__ import annotations

from typing import Any

import pytest
from botocore.exceptions import ClientError

from gpu_constructs.local import LocalAws
from tests.local.conftest import StackUnderTest

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


@pytest.fixture
def subnet_id(local_aws: LocalAws) -> str:
    ec2 = local_aws.client("ec2")
    vpc_id = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet: str = ec2.create_subnet(VpcId=vpc_id, CidrBlock="10.0.0.0/24")["Subnet"]["SubnetId"]
    return subnet


def lustre(subnet_id: str, **configuration: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::FSx::FileSystem",
        "Properties": {
            "FileSystemType": "LUSTRE",
            "StorageCapacity": 1200,
            "SubnetIds": [subnet_id],
            "LustreConfiguration": {"DeploymentType": "SCRATCH_2", **configuration},
        },
    }


def test_a_lustre_file_system_has_what_a_node_mounts_it_by(a_stack: StackUnderTest, subnet_id: str) -> None:
    outputs = {
        name: {"Value": {"Fn::GetAtt": ["FileSystem", name]}} for name in ("DNSName", "LustreMountName", "ResourceARN")
    }

    stack = a_stack.create({"FileSystem": lustre(subnet_id)}, template={"Outputs": outputs})

    said = {o["OutputKey"]: o["OutputValue"] for o in stack["Outputs"]}
    (found,) = a_stack.aws.client("fsx").describe_file_systems(FileSystemIds=[a_stack.physical_id("FileSystem")])[
        "FileSystems"
    ]
    assert found["Lifecycle"] == "AVAILABLE"
    assert found["VpcId"].startswith("vpc-")
    assert (said["DNSName"], said["LustreMountName"]) == (found["DNSName"], found["LustreConfiguration"]["MountName"])
    assert said["ResourceARN"].endswith(f"file-system/{found['FileSystemId']}")


def test_scratch_1_is_mounted_as_fsx(a_stack: StackUnderTest, subnet_id: str) -> None:
    a_stack.create({"FileSystem": lustre(subnet_id, DeploymentType="SCRATCH_1")})

    (found,) = a_stack.aws.client("fsx").describe_file_systems(FileSystemIds=[a_stack.physical_id("FileSystem")])[
        "FileSystems"
    ]
    assert found["LustreConfiguration"]["MountName"] == "fsx"


def test_a_file_system_grows_in_place(a_stack: StackUnderTest, subnet_id: str) -> None:
    file_system = lustre(subnet_id)
    a_stack.create({"FileSystem": file_system})
    before = a_stack.physical_id("FileSystem")
    file_system["Properties"]["StorageCapacity"] = 2400

    a_stack.update({"FileSystem": file_system})

    (found,) = a_stack.aws.client("fsx").describe_file_systems(FileSystemIds=[before])["FileSystems"]
    assert found["StorageCapacity"] == 2400


def test_data_repository_associations_by_the_api(a_stack: StackUnderTest, subnet_id: str) -> None:
    a_stack.create({"FileSystem": lustre(subnet_id)})
    file_system_id = a_stack.physical_id("FileSystem")
    fsx = a_stack.aws.client("fsx")
    path = {"FileSystemId": file_system_id, "FileSystemPath": "/data", "DataRepositoryPath": "s3://bucket/data"}

    made = fsx.create_data_repository_association(**path)["Association"]

    by_file_system = [{"Name": "file-system-id", "Values": [file_system_id]}]
    (found,) = fsx.describe_data_repository_associations(Filters=by_file_system)["Associations"]
    assert (found["AssociationId"], found["Lifecycle"]) == (made["AssociationId"], "AVAILABLE")
    with pytest.raises(ClientError, match="already exists for the path /data"):
        fsx.create_data_repository_association(**path)
    fsx.delete_data_repository_association(AssociationId=made["AssociationId"])
    with pytest.raises(ClientError, match="does not exist"):
        fsx.describe_data_repository_associations(AssociationIds=[made["AssociationId"]])


def test_a_data_repository_association_of_a_stack(a_stack: StackUnderTest, subnet_id: str) -> None:
    association = {
        "Type": "AWS::FSx::DataRepositoryAssociation",
        "Properties": {
            "FileSystemId": {"Ref": "FileSystem"},
            "FileSystemPath": "/data",
            "DataRepositoryPath": "s3://bucket/data",
            "BatchImportMetaDataOnCreate": True,
        },
    }

    a_stack.create({"FileSystem": lustre(subnet_id), "Association": association})

    ids = [a_stack.physical_id("Association")]
    (found,) = a_stack.aws.client("fsx").describe_data_repository_associations(AssociationIds=ids)["Associations"]
    assert found["BatchImportMetaDataOnCreate"] is True
    assert a_stack.delete() == "DELETE_COMPLETE"
