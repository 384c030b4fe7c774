from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Match, Template

from gpu_constructs.network.placement import create_placement_group
from gpu_constructs.network.security_group import create_security_group
from gpu_constructs.network.vpc import create_vpc
from tests.conftest import only, resources


@pytest.fixture
def rules(stack: Stack, vpc: ec2.Vpc) -> dict[str, dict[str, Any]]:
    create_security_group(stack, "Group", vpc=vpc, description="nodes")
    return resources(stack, "AWS::EC2::SecurityGroupEgress")


def test_group_lets_all_traffic_in_from_itself_only(stack: Stack, rules: dict[str, Any]) -> None:
    assert rules
    ingress = only(stack, "AWS::EC2::SecurityGroupIngress")["Properties"]
    assert (ingress["IpProtocol"], ingress["SourceSecurityGroupId"]) == ("-1", ingress["GroupId"])
    assert "SecurityGroupIngress" not in only(stack, "AWS::EC2::SecurityGroup")["Properties"]


def test_group_lets_all_traffic_out_to_itself(rules: dict[str, dict[str, Any]]) -> None:
    (to_itself,) = [rule["Properties"] for rule in rules.values() if "DestinationSecurityGroupId" in rule["Properties"]]
    assert (to_itself["IpProtocol"], to_itself["DestinationSecurityGroupId"]) == ("-1", to_itself["GroupId"])


def test_rule_to_anywhere_comes_after_the_rule_to_itself(rules: dict[str, dict[str, Any]]) -> None:
    (to_itself,) = [key for key, rule in rules.items() if "DestinationSecurityGroupId" in rule["Properties"]]
    (to_anywhere,) = [rule for rule in rules.values() if rule["Properties"].get("CidrIp") == "0.0.0.0/0"]
    assert to_anywhere["Properties"]["IpProtocol"] == "-1"
    assert to_anywhere["DependsOn"] == [to_itself]


def test_placement_group_is_a_cluster(stack: Stack) -> None:
    create_placement_group(stack, "Placement")
    assert only(stack, "AWS::EC2::PlacementGroup")["Properties"] == {"Strategy": "cluster"}


def test_vpc_has_one_private_and_one_public_subnet_in_one_zone(stack: Stack) -> None:
    vpc = create_vpc(stack, "Network")
    assert [len(vpc.private_subnets), len(vpc.public_subnets), len(vpc.isolated_subnets)] == [1, 1, 0]
    zones = {str(subnet["Properties"]["AvailabilityZone"]) for subnet in resources(stack, "AWS::EC2::Subnet").values()}
    assert len(zones) == 1


def test_vpc_gives_no_public_addresses(stack: Stack) -> None:
    create_vpc(stack, "Network")
    Template.from_stack(stack).all_resources_properties("AWS::EC2::Subnet", {"MapPublicIpOnLaunch": False})


def test_vpc_has_one_nat_gateway_and_an_s3_gateway_endpoint(stack: Stack) -> None:
    create_vpc(stack, "Network")
    template = Template.from_stack(stack)
    template.resource_count_is("AWS::EC2::NatGateway", 1)
    template.has_resource_properties(
        "AWS::EC2::VPCEndpoint", {"VpcEndpointType": "Gateway", "ServiceName": Match.any_value()}
    )


def test_vpc_empties_the_default_security_group_without_a_feature_flag(stack: Stack) -> None:
    create_vpc(stack, "Network")
    assert only(stack, "Custom::VpcRestrictDefaultSG")


@pytest.mark.parametrize("env_agnostic", [False, True])
def test_vpc_is_in_the_zone_asked_for(stack: Stack, *, env_agnostic: bool) -> None:
    scope = Stack(App(), "Agnostic") if env_agnostic else stack
    create_vpc(scope, "Network", availability_zone="us-east-1d")
    Template.from_stack(scope).all_resources_properties("AWS::EC2::Subnet", {"AvailabilityZone": "us-east-1d"})
