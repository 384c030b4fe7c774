from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import CfnParameter, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2

from gpu_constructs import GpuConstructsError, Lustre, LustreStorage
from tests.conftest import only, resources


def _storage(stack: Stack, vpc: ec2.Vpc, lustre: Lustre | None = None, **options: Any) -> LustreStorage:
    return LustreStorage(stack, "Data", vpc=vpc, subnet=vpc.private_subnets[0], lustre=lustre, **options)


def _id(stack: Stack, group: ec2.ISecurityGroup) -> str:
    identifier: str = stack.resolve(group.security_group_id)["Fn::GetAtt"][0]
    return identifier


def _rules(stack: Stack, kind: str, peer: str) -> set[tuple[str, str, int, int]]:
    """Return (group, peer, first port, last port) of all rules of a kind."""
    return {
        (
            rule["Properties"]["GroupId"]["Fn::GetAtt"][0],
            rule["Properties"][peer]["Fn::GetAtt"][0],
            rule["Properties"]["FromPort"],
            rule["Properties"]["ToPort"],
        )
        for rule in resources(stack, kind).values()
    }


def test_default_is_a_scratch_file_system_that_goes_with_its_stack(stack: Stack, vpc: ec2.Vpc) -> None:
    storage = _storage(stack, vpc)
    resource = only(stack, "AWS::FSx::FileSystem")
    assert resource["DeletionPolicy"] == resource["UpdateReplacePolicy"] == "Delete"
    assert resource["Properties"] == {
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": "2.15",
        "StorageType": "SSD",
        "StorageCapacity": 1200,
        "SubnetIds": [stack.resolve(vpc.private_subnets[0].subnet_id)],
        "SecurityGroupIds": [stack.resolve(storage.security_group.security_group_id)],
        "LustreConfiguration": {"DeploymentType": "SCRATCH_2", "DataCompressionType": "LZ4"},
    }


def test_persistent_file_system_is_kept(stack: Stack, vpc: ec2.Vpc) -> None:
    _storage(stack, vpc, Lustre.persistent(2400, 250))
    resource = only(stack, "AWS::FSx::FileSystem")
    assert resource["DeletionPolicy"] == "Retain"
    assert resource["Properties"]["LustreConfiguration"]["DeploymentType"] == "PERSISTENT_2"
    assert resource["Properties"]["LustreConfiguration"]["PerUnitStorageThroughput"] == 250


def test_persistent_file_system_keeps_the_group_that_it_is_in_use_of(stack: Stack, vpc: ec2.Vpc) -> None:
    storage = _storage(stack, vpc, Lustre.persistent(2400, 250))
    storage.allow_from(ec2.SecurityGroup(stack, "Clients", vpc=vpc))
    own = _id(stack, storage.security_group)
    assert resources(stack, "AWS::EC2::SecurityGroup")[own]["DeletionPolicy"] == "Retain"
    rules = [
        *resources(stack, "AWS::EC2::SecurityGroupIngress").values(),
        *resources(stack, "AWS::EC2::SecurityGroupEgress").values(),
    ]
    kept = [rule for rule in rules if rule.get("DeletionPolicy") == "Retain"]
    assert len(kept) == 4  # two port ranges, each in and out, between servers; those of clients go with the clients


def test_removal_policy_of_the_user_wins(stack: Stack, vpc: ec2.Vpc) -> None:
    _storage(stack, vpc, removal_policy=RemovalPolicy.RETAIN)
    assert only(stack, "AWS::FSx::FileSystem")["DeletionPolicy"] == "Retain"


def test_servers_reach_each_other_on_the_ports_of_lustre(stack: Stack, vpc: ec2.Vpc) -> None:
    group = _id(stack, _storage(stack, vpc).security_group)
    both = {(group, group, 988, 988), (group, group, 1018, 1023)}
    assert _rules(stack, "AWS::EC2::SecurityGroupIngress", "SourceSecurityGroupId") == both
    assert _rules(stack, "AWS::EC2::SecurityGroupEgress", "DestinationSecurityGroupId") == both


def test_clients_are_let_through_in_both_directions(stack: Stack, vpc: ec2.Vpc) -> None:
    client = ec2.SecurityGroup(stack, "Client", vpc=vpc, allow_all_outbound=False)
    storage = _storage(stack, vpc)
    storage.allow_from(client)
    data, nodes = _id(stack, storage.security_group), _id(stack, client)
    expected = {
        (one, other, *ports) for one, other in ((data, nodes), (nodes, data)) for ports in ((988, 988), (1018, 1023))
    }
    assert _rules(stack, "AWS::EC2::SecurityGroupIngress", "SourceSecurityGroupId") >= expected
    assert _rules(stack, "AWS::EC2::SecurityGroupEgress", "DestinationSecurityGroupId") >= expected


def test_file_system_waits_for_every_rule_of_its_group(stack: Stack, vpc: ec2.Vpc) -> None:
    _storage(stack, vpc)
    rules = {
        *resources(stack, "AWS::EC2::SecurityGroupIngress"),
        *resources(stack, "AWS::EC2::SecurityGroupEgress"),
    }
    assert len(rules) == 4
    assert set(only(stack, "AWS::FSx::FileSystem")["DependsOn"]) == rules


def test_names_are_those_that_clients_mount(stack: Stack, vpc: ec2.Vpc) -> None:
    storage = _storage(stack, vpc)
    (logical_id,) = resources(stack, "AWS::FSx::FileSystem")
    ref = {"Ref": logical_id}
    assert stack.resolve(storage.file_system_id) == ref
    assert stack.resolve(storage.mount_name) == {"Fn::GetAtt": [logical_id, "LustreMountName"]}
    assert stack.resolve(storage.dns_name) == {"Fn::Join": ["", [ref, ".fsx.us-east-1.", {"Ref": "AWS::URLSuffix"}]]}


def test_imported_file_system_is_a_lustre_storage_that_lets_clients_in(stack: Stack, vpc: ec2.Vpc) -> None:
    group = ec2.SecurityGroup.from_security_group_id(stack, "Imported", "sg-0123456789abcdef0")
    storage = LustreStorage.from_attributes(stack, "Data", "fs-0123456789abcdef0", "abcdefgh", group)
    storage.allow_from(ec2.SecurityGroup(stack, "Client", vpc=vpc))
    assert isinstance(storage, LustreStorage)
    assert storage.mount_name == "abcdefgh"
    assert stack.resolve(storage.dns_name)["Fn::Join"][1][0] == "fs-0123456789abcdef0.fsx.us-east-1."
    assert resources(stack, "AWS::FSx::FileSystem") == {}
    groups = {
        rule["Properties"]["GroupId"]
        for rule in resources(stack, "AWS::EC2::SecurityGroupIngress").values()
        if isinstance(rule["Properties"]["GroupId"], str)
    }
    assert groups == {"sg-0123456789abcdef0"}


def test_all_mistakes_are_raised_at_once(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match="Stack/Data: 2 problems") as raised:
        _storage(stack, vpc, Lustre.persistent(1300, 126))
    assert "got 1300" in str(raised.value)
    assert "got 126" in str(raised.value)


def test_none_is_no_storage(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match=r"got Lustre\.none\(\)"):
        _storage(stack, vpc, Lustre.none())


def test_capacity_known_only_at_deploy_time_is_not_judged(stack: Stack, vpc: ec2.Vpc) -> None:
    capacity = CfnParameter(stack, "Capacity", type="Number").value_as_number
    _storage(stack, vpc, Lustre.scratch(capacity))  # type: ignore[arg-type]
    assert only(stack, "AWS::FSx::FileSystem")["Properties"]["StorageCapacity"] == {"Ref": "Capacity"}
