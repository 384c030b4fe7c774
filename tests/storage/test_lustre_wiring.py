"""What is rendered for each kind of file system, and for its links."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from gpu_constructs import GpuConstructsError, Lustre, LustreStorage
from tests.conftest import only, resources, warnings


def _storage(stack: Stack, vpc: ec2.Vpc, lustre: Lustre) -> LustreStorage:
    return LustreStorage(stack, "Data", vpc=vpc, subnet=vpc.private_subnets[0], lustre=lustre)


def _properties(stack: Stack) -> dict[str, Any]:
    properties: dict[str, Any] = only(stack, "AWS::FSx::FileSystem")["Properties"]
    return properties


@pytest.mark.parametrize(
    ("lustre", "storage", "configuration"),
    [
        (
            Lustre.persistent(38400, 125, efa=True),
            ("SSD", 38400),
            {
                "DeploymentType": "PERSISTENT_2",
                "PerUnitStorageThroughput": 125,
                "EfaEnabled": True,
                "MetadataConfiguration": {"Mode": "AUTOMATIC"},
                "DataCompressionType": "LZ4",
            },
        ),
        (
            Lustre.persistent(1200, 125, metadata_iops=3000, compression=False),
            ("SSD", 1200),
            {
                "DeploymentType": "PERSISTENT_2",
                "PerUnitStorageThroughput": 125,
                "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 3000},
                "DataCompressionType": "NONE",
            },
        ),
        (
            Lustre.hdd(6000, 12),
            ("HDD", 6000),
            {
                "DeploymentType": "PERSISTENT_1",
                "PerUnitStorageThroughput": 12,
                "DriveCacheType": "NONE",
                "DataCompressionType": "LZ4",
            },
        ),
        (
            Lustre.hdd(1800, 40, read_cache=True),
            ("HDD", 1800),
            {
                "DeploymentType": "PERSISTENT_1",
                "PerUnitStorageThroughput": 40,
                "DriveCacheType": "READ",
                "DataCompressionType": "LZ4",
            },
        ),
        (
            Lustre.intelligent_tiering(4000),
            ("INTELLIGENT_TIERING", None),
            {
                "DeploymentType": "PERSISTENT_2",
                "ThroughputCapacity": 4000,
                "DataReadCacheConfiguration": {"SizingMode": "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"},
                "MetadataConfiguration": {"Mode": "AUTOMATIC"},
                "DataCompressionType": "LZ4",
            },
        ),
        (
            Lustre.intelligent_tiering(8000, 0, efa=True, metadata_iops=12_000),
            ("INTELLIGENT_TIERING", None),
            {
                "DeploymentType": "PERSISTENT_2",
                "ThroughputCapacity": 8000,
                "DataReadCacheConfiguration": {"SizingMode": "NO_CACHE"},
                "EfaEnabled": True,
                "MetadataConfiguration": {"Mode": "USER_PROVISIONED", "Iops": 12_000},
                "DataCompressionType": "LZ4",
            },
        ),
        (
            Lustre.intelligent_tiering(4000, 1000, compression=False),
            ("INTELLIGENT_TIERING", None),
            {
                "DeploymentType": "PERSISTENT_2",
                "ThroughputCapacity": 4000,
                "DataReadCacheConfiguration": {"SizingMode": "USER_PROVISIONED", "SizeGiB": 1000},
                "MetadataConfiguration": {"Mode": "AUTOMATIC"},
                "DataCompressionType": "NONE",
            },
        ),
    ],
)
def test_kind_is_rendered(
    stack: Stack, vpc: ec2.Vpc, lustre: Lustre, storage: tuple[str, int | None], configuration: dict[str, Any]
) -> None:
    _storage(stack, vpc, lustre)
    resource = only(stack, "AWS::FSx::FileSystem")
    properties = resource["Properties"]
    assert (properties["StorageType"], properties.get("StorageCapacity")) == storage
    assert properties["LustreConfiguration"] == configuration
    assert properties["FileSystemTypeVersion"] == "2.15"
    assert resource["DeletionPolicy"] == "Retain"
    assert warnings(stack) == []


def _all_traffic(stack: Stack, kind: str, peer: str) -> set[tuple[str, str]]:
    return {
        (rule["Properties"]["GroupId"]["Fn::GetAtt"][0], rule["Properties"][peer]["Fn::GetAtt"][0])
        for rule in resources(stack, kind).values()
        if rule["Properties"]["IpProtocol"] == "-1"
    }


def test_all_traffic_passes_with_efa_between_servers_and_to_and_from_clients(stack: Stack, vpc: ec2.Vpc) -> None:
    """https://docs.aws.amazon.com/fsx/latest/LustreGuide/cannot-create-fs.html."""
    storage = _storage(stack, vpc, Lustre.persistent(4800, 1000, efa=True))
    client = ec2.SecurityGroup(stack, "Client", vpc=vpc, allow_all_outbound=False)
    storage.allow_from(client)
    data, nodes = (
        stack.resolve(group.security_group_id)["Fn::GetAtt"][0] for group in (storage.security_group, client)
    )
    expected = {(data, data), (data, nodes), (nodes, data)}
    assert _all_traffic(stack, "AWS::EC2::SecurityGroupIngress", "SourceSecurityGroupId") == expected
    assert _all_traffic(stack, "AWS::EC2::SecurityGroupEgress", "DestinationSecurityGroupId") == expected
    assert len(only(stack, "AWS::FSx::FileSystem")["DependsOn"]) == 2
    assert warnings(stack) == []


@pytest.mark.parametrize("efa", [True, False])
def test_clients_whose_rules_cannot_be_completed_are_warned_of_with_efa_alone(
    stack: Stack, vpc: ec2.Vpc, efa: bool
) -> None:
    lustre = Lustre.persistent(4800, 1000, efa=efa)
    _storage(stack, vpc, lustre).allow_from(ec2.SecurityGroup(stack, "Client", vpc=vpc))
    assert [("0.0.0.0/0 does not cover EFA" in text) for text in warnings(stack)] == [True] * efa


@pytest.mark.parametrize("all_outbound", [True, False])
def test_imported_file_system_with_efa_lets_all_traffic_through(stack: Stack, vpc: ec2.Vpc, all_outbound: bool) -> None:
    group = ec2.SecurityGroup.from_security_group_id(
        stack, "Imported", "sg-0123456789abcdef0", allow_all_outbound=all_outbound
    )
    storage = LustreStorage.from_attributes(stack, "Data", "fs-0123456789abcdef0", "abcdefgh", group, efa=True)
    storage.allow_from(ec2.SecurityGroup(stack, "Client", vpc=vpc, allow_all_outbound=False))
    rules = resources(stack, "AWS::EC2::SecurityGroupIngress").values()
    assert {rule["Properties"]["IpProtocol"] for rule in rules} == {"-1"}
    assert [("0.0.0.0/0 does not cover EFA" in text) for text in warnings(stack)] == [True] * all_outbound


def test_link_mirrors_a_bucket(stack: Stack, vpc: ec2.Vpc) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    _storage(stack, vpc, Lustre.scratch().linked_to(bucket, "/images", "train/"))
    association = only(stack, "AWS::FSx::DataRepositoryAssociation")
    name = stack.resolve(bucket.bucket_name)
    (file_system,) = resources(stack, "AWS::FSx::FileSystem")
    assert association["Properties"] == {
        "FileSystemId": {"Ref": file_system},
        "FileSystemPath": "/images",
        "DataRepositoryPath": {"Fn::Join": ["", ["s3://", name, "/train/"]]},
        "BatchImportMetaDataOnCreate": True,
        "S3": {
            "AutoImportPolicy": {"Events": ["NEW", "CHANGED", "DELETED"]},
            "AutoExportPolicy": {"Events": ["NEW", "CHANGED"]},
        },
    }


def test_link_deletes_objects_only_where_it_is_asked_for(stack: Stack, vpc: ec2.Vpc) -> None:
    _storage(stack, vpc, Lustre.scratch().linked_to(s3.Bucket(stack, "Bucket"), export_deletes=True))
    policy = only(stack, "AWS::FSx::DataRepositoryAssociation")["Properties"]["S3"]["AutoExportPolicy"]
    assert policy == {"Events": ["NEW", "CHANGED", "DELETED"]}


def test_link_goes_with_its_stack_though_the_file_system_is_kept(stack: Stack, vpc: ec2.Vpc) -> None:
    _storage(stack, vpc, Lustre.persistent(1200, 125).linked_to(s3.Bucket(stack, "Bucket")))
    assert only(stack, "AWS::FSx::DataRepositoryAssociation")["DeletionPolicy"] == "Delete"
    assert only(stack, "AWS::FSx::FileSystem")["DeletionPolicy"] == "Retain"


def test_logical_id_of_a_link_is_that_of_its_directory(vpc: ec2.Vpc) -> None:
    """So that one that is left out replaces none of the others, which would overlap while both exist."""

    def ids(*paths: str) -> set[str]:
        stack = Stack(App(), "Stack")
        lustre = Lustre.scratch()
        for path in paths:
            lustre = lustre.linked_to(s3.Bucket.from_bucket_name(stack, path[1:], f"bucket-{path[1:]}"), path)
        _storage(stack, ec2.Vpc(stack, "Vpc", max_azs=1), lustre)
        return set(resources(stack, "AWS::FSx::DataRepositoryAssociation"))

    assert ids("/b") < ids("/a", "/b")


def test_key_of_a_linked_bucket_lets_fsx_use_it(stack: Stack, vpc: ec2.Vpc) -> None:
    bucket = s3.Bucket(stack, "Bucket", encryption_key=kms.Key(stack, "Key"))
    _storage(stack, vpc, Lustre.scratch().linked_to(bucket))
    statement = only(stack, "AWS::KMS::Key")["Properties"]["KeyPolicy"]["Statement"][-1]
    assert statement["Principal"] == {"AWS": "*"}
    assert "kms:Decrypt" in statement["Action"]
    assert statement["Condition"] == {
        "StringEquals": {"kms:CallerAccount": "111111111111", "kms:ViaService": "s3.us-east-1.amazonaws.com"},
        "StringLike": {"aws:userid": "*:FSx"},
    }
    assert warnings(stack) == []


def test_imported_key_of_a_linked_bucket_is_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    key = kms.Key.from_key_arn(stack, "Key", "arn:aws:kms:us-east-1:111111111111:key/1")
    bucket = s3.Bucket.from_bucket_attributes(stack, "Bucket", bucket_name="encrypted", encryption_key=key)
    _storage(stack, vpc, Lustre.scratch().linked_to(bucket))
    (warning,) = warnings(stack)
    assert "Stack/Key of a linked bucket is imported" in warning


def test_links_that_are_refused_are_told_beside_everything_else(stack: Stack, vpc: ec2.Vpc) -> None:
    abroad = s3.Bucket.from_bucket_attributes(stack, "Abroad", bucket_name="abroad", region="eu-west-1")
    lustre = Lustre.scratch(1300).linked_to(abroad, "data").linked_to(s3.Bucket(stack, "Bucket"), "data/x")
    with pytest.raises(GpuConstructsError, match="Stack/Data: 5 problems") as raised:
        _storage(stack, vpc, lustre)
    for expected in ("got 1300", "got 'data'", "got 'data/x'", "got one in eu-west-1", "got 'data' and 'data/x'"):
        assert expected in str(raised.value)


def test_same_bucket_twice_is_refused_by_its_name_or_token(stack: Stack, vpc: ec2.Vpc) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    with pytest.raises(GpuConstructsError, match="linked_to prefix must be unique"):
        _storage(stack, vpc, Lustre.scratch().linked_to(bucket, "/a").linked_to(bucket, "/b"))


def test_none_cannot_be_linked(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match=r"got Lustre\.none\(\); use Lustre\.scratch"):
        _storage(stack, vpc, Lustre.none().linked_to(s3.Bucket(stack, "Bucket")))


def test_values_known_only_at_deploy_time_are_let_through(stack: Stack, vpc: ec2.Vpc) -> None:
    number = CfnParameter(stack, "Number", type="Number").value_as_number
    text = CfnParameter(stack, "Text").value_as_string
    bucket = s3.Bucket(stack, "Bucket")
    _storage(
        stack,
        vpc,
        Lustre.persistent(number, 125, metadata_iops=number).linked_to(bucket, text, text),  # type: ignore[arg-type]
    )
    properties = _properties(stack)
    assert properties["StorageCapacity"] == {"Ref": "Number"}
    assert properties["LustreConfiguration"]["MetadataConfiguration"]["Iops"] == {"Ref": "Number"}
    association = only(stack, "AWS::FSx::DataRepositoryAssociation")["Properties"]
    assert association["FileSystemPath"] == {"Ref": "Text"}


def test_throughput_of_intelligent_tiering_known_only_at_deploy_time_is_let_through(stack: Stack, vpc: ec2.Vpc) -> None:
    number = CfnParameter(stack, "Number", type="Number").value_as_number
    _storage(stack, vpc, Lustre.intelligent_tiering(number, number))  # type: ignore[arg-type]
    configuration = _properties(stack)["LustreConfiguration"]
    assert configuration["ThroughputCapacity"] == {"Ref": "Number"}
    assert configuration["DataReadCacheConfiguration"]["SizeGiB"] == {"Ref": "Number"}


def test_doubts_are_warnings(stack: Stack, vpc: ec2.Vpc) -> None:
    lustre = Lustre.intelligent_tiering(1000, metadata_iops=1500).linked_to(s3.Bucket(stack, "Bucket"))
    _storage(stack, vpc, lustre)
    assert len(warnings(stack)) == 3
    assert _properties(stack)["LustreConfiguration"]["ThroughputCapacity"] == 1000


def test_link_works_across_stacks_of_one_region(vpc: ec2.Vpc) -> None:
    app = App()
    env = Environment(account="111111111111", region="us-east-1")
    bucket = s3.Bucket(Stack(app, "Buckets", env=env), "Bucket")
    stack = Stack(app, "Stack", env=env)
    _storage(stack, ec2.Vpc(stack, "Vpc", max_azs=1), Lustre.scratch().linked_to(bucket))
    assert only(stack, "AWS::FSx::DataRepositoryAssociation")


def test_bucket_that_its_stack_lets_a_role_read_can_be_linked(stack: Stack, vpc: ec2.Vpc) -> None:
    """No circle: the key's policy names neither bucket nor file system."""
    bucket = s3.Bucket(stack, "Bucket", encryption=s3.BucketEncryption.KMS)
    bucket.grant_read(iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com")))
    _storage(stack, vpc, Lustre.persistent(1200, 125).linked_to(bucket))
    assert only(stack, "AWS::FSx::DataRepositoryAssociation")
