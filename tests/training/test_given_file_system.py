"""A file system that the cluster does not create: where it is, and in which stack."""

from __future__ import annotations

from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2

from gpu_constructs import LustreStorage
from tests.conftest import ENV, resources, warnings
from tests.training.made import make_cluster, refusal


def _storage(scope: Stack, vpc: ec2.Vpc, zone: int = 0) -> LustreStorage:
    return LustreStorage(scope, "Data", vpc=vpc, subnet=vpc.private_subnets[zone])


def test_file_system_without_its_vpc_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    message = refusal(stack, file_system=_storage(stack, vpc))
    assert "got a LustreStorage in another VPC than the one that the cluster creates for its nodes" in message


def test_file_system_beside_the_nodes_is_accepted(stack: Stack, vpc: ec2.Vpc) -> None:
    storage = _storage(stack, vpc)
    assert make_cluster(stack, vpc=vpc, availability_zone="us-east-1a", file_system=storage).file_system is storage
    assert warnings(stack) == []


def test_file_system_in_another_zone_is_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    make_cluster(stack, vpc=vpc, availability_zone="us-east-1a", file_system=_storage(stack, vpc, zone=1))
    (warning,) = warnings(stack)
    assert "file system and nodes are in two zones (us-east-1b, us-east-1a)" in warning


def test_file_system_in_another_vpc_is_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    """It is only warned of because the VPCs may be peered."""
    other = ec2.Vpc(stack, "Other", availability_zones=["us-east-1a"], nat_gateways=1)
    make_cluster(stack, vpc=vpc, availability_zone="us-east-1a", file_system=_storage(stack, other))
    (warning,) = warnings(stack)
    assert "the file system is in another VPC than the nodes" in warning


def test_file_system_that_exists_is_warned_of_where_the_cluster_creates_its_vpc(stack: Stack) -> None:
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0")
    storage = LustreStorage.from_attributes(stack, "Data", "fs-0123456789abcdef0", "abcdefgh", group)
    make_cluster(stack, file_system=storage)
    (warning,) = warnings(stack)
    assert "exists, so it is not in the VPC that the cluster creates" in warning


def test_file_system_and_cluster_may_be_in_two_stacks() -> None:
    """The rules between their groups are in the stack of the nodes, or the two would need each other."""
    app = App()
    data, training = (Stack(app, name, env=ENV) for name in ("Data", "Training"))
    vpc = ec2.Vpc(data, "Vpc", availability_zones=["us-east-1a"], nat_gateways=1)
    storage = _storage(data, vpc)

    make_cluster(training, vpc=vpc, file_system=storage)

    app.synth()
    assert training.dependencies == [data]
    assert data.dependencies == []
    lustre = [rule["Properties"] for rule in resources(training, "AWS::EC2::SecurityGroupIngress").values()]
    assert sorted(rule["FromPort"] for rule in lustre if "FromPort" in rule) == [988, 988, 1018, 1018]


def test_clients_of_a_stack_that_the_file_system_needs_have_their_rules_beside_it() -> None:
    app = App()
    nodes, data = (Stack(app, name, env=ENV) for name in ("Nodes", "Data"))
    vpc = ec2.Vpc(nodes, "Vpc", availability_zones=["us-east-1a"], nat_gateways=1)
    clients = ec2.SecurityGroup(nodes, "Clients", vpc=vpc, allow_all_outbound=False)

    _storage(data, vpc).allow_from(clients)

    app.synth()
    assert data.dependencies == [nodes]
    assert nodes.dependencies == []
