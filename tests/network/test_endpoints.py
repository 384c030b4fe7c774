from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2

import gpu_constructs.network
from gpu_constructs import Lustre, TrainingCluster
from gpu_constructs.network import private_vpc
from tests.conftest import only, resources, warnings


def _endpoints(stack: Stack, kind: str) -> dict[str, dict[str, Any]]:
    found = [endpoint["Properties"] for endpoint in resources(stack, "AWS::EC2::VPCEndpoint").values()]
    return {_service(endpoint["ServiceName"]): endpoint for endpoint in found if endpoint["VpcEndpointType"] == kind}


def _service(name: Any) -> str:
    text = name if isinstance(name, str) else name["Fn::Join"][1][-1]
    return str(text).removeprefix("com.amazonaws.us-east-1")


def test_vpc_has_one_isolated_subnet_and_no_gateway(stack: Stack) -> None:
    vpc = private_vpc(stack, "Network")
    assert [len(vpc.private_subnets), len(vpc.public_subnets), len(vpc.isolated_subnets)] == [0, 0, 1]
    assert resources(stack, "AWS::EC2::NatGateway") == resources(stack, "AWS::EC2::InternetGateway") == {}


def test_services_that_nodes_need_have_endpoints(stack: Stack) -> None:
    private_vpc(stack, "Network")
    assert set(_endpoints(stack, "Gateway")) == {".s3"}
    assert set(_endpoints(stack, "Interface")) == {
        ".ssm",
        ".ssmmessages",
        ".autoscaling",
        ".monitoring",
        ".logs",
        ".ec2",
    }


def test_more_services_are_added(stack: Stack) -> None:
    private_vpc(stack, "Network", more_services={"EcrApi": ec2.InterfaceVpcEndpointAwsService.ECR})
    assert ".ecr.api" in _endpoints(stack, "Interface")


def test_endpoints_let_in_https_from_the_vpc_only(stack: Stack) -> None:
    private_vpc(stack, "Network")
    group = only(stack, "AWS::EC2::SecurityGroup")["Properties"]
    (rule,) = group["SecurityGroupIngress"]
    assert [rule[key] for key in ("CidrIp", "IpProtocol", "FromPort", "ToPort")] == ["10.0.0.0/16", "tcp", 443, 443]
    assert {len(endpoint["SecurityGroupIds"]) for endpoint in _endpoints(stack, "Interface").values()} == {1}


def test_endpoints_take_principals_of_the_account_only(stack: Stack) -> None:
    private_vpc(stack, "Network")
    account = {"StringEquals": {"aws:PrincipalAccount": {"Ref": "AWS::AccountId"}}}
    for endpoint in _endpoints(stack, "Interface").values():
        assert [statement["Condition"] for statement in endpoint["PolicyDocument"]["Statement"]] == [account]
    own, public = _endpoints(stack, "Gateway")[".s3"]["PolicyDocument"]["Statement"]
    assert own["Condition"] == account
    assert (public["Action"], "*" in public["Resource"]) == ("s3:GetObject", False)


def test_vpc_is_in_the_zone_asked_for(stack: Stack) -> None:
    private_vpc(Stack(App(), "Agnostic"), "Network")
    private_vpc(stack, "Network", availability_zone="us-east-1d")
    assert only(stack, "AWS::EC2::Subnet")["Properties"]["AvailabilityZone"] == "us-east-1d"


def test_cluster_takes_the_isolated_subnet_and_waits_for_the_endpoints(stack: Stack) -> None:
    vpc = private_vpc(stack, "Network")
    TrainingCluster(stack, "Cluster", instance_type="p4d.24xlarge", node_count=1, vpc=vpc, file_system=Lustre.none())
    group = only(stack, "AWS::AutoScaling::AutoScalingGroup")
    assert group["Properties"]["VPCZoneIdentifier"] == [stack.resolve(vpc.isolated_subnets[0].subnet_id)]
    assert set(resources(stack, "AWS::EC2::VPCEndpoint")) <= set(group["DependsOn"])
    assert warnings(stack) == []


def test_network_has_no_other_names() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        gpu_constructs.network.nonsense  # noqa: B018
