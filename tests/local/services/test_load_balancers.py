"""Load balancers and target groups, deployed as stacks: whole, updated in place, refused as on AWS, deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.local.services.load_balanced import FIXED, balancer, forward, listener, target_group
from tests.local.services.stack import DeployedStack

if TYPE_CHECKING:
    from mypy_boto3_ec2.client import EC2Client
    from mypy_boto3_elbv2.client import ElasticLoadBalancingv2Client


@pytest.fixture
def vpc(ec2: EC2Client, subnets: list[str]) -> str:
    return ec2.describe_subnets(SubnetIds=subnets)["Subnets"][0]["VpcId"]


def attributes(client: ElasticLoadBalancingv2Client, arn: str) -> dict[str, str]:
    if ":loadbalancer/" in arn:
        found: Any = client.describe_load_balancer_attributes(LoadBalancerArn=arn)["Attributes"]
    else:
        found = client.describe_target_group_attributes(TargetGroupArn=arn)["Attributes"]
    return {entry["Key"]: entry["Value"] for entry in found}


def described(client: ElasticLoadBalancingv2Client, arn: str) -> Any:
    if ":loadbalancer/" in arn:
        return client.describe_load_balancers(LoadBalancerArns=[arn])["LoadBalancers"][0]
    return client.describe_target_groups(TargetGroupArns=[arn])["TargetGroups"][0]


def test_an_application_load_balancer_is_created_whole(
    deployed: DeployedStack, load_balancing: ElasticLoadBalancingv2Client, subnets: list[str]
) -> None:
    outputs = {
        name: {"Fn::GetAtt": ["Balancer", name]}
        for name in ("DNSName", "LoadBalancerArn", "LoadBalancerFullName", "LoadBalancerName", "CanonicalHostedZoneID")
    }
    groups = {"Fn::Join": [",", {"Fn::GetAtt": ["Balancer", "SecurityGroups"]}]}
    status = deployed.deploy(
        {**outputs, "Groups": groups},
        Balancer=balancer(subnets, {"idle_timeout.timeout_seconds": "600", "routing.http2.enabled": "true"}),
    )

    assert status == "CREATE_COMPLETE"
    arn = deployed.physical_id("Balancer")
    found, given = described(load_balancing, arn), deployed.outputs()
    assert (found["Type"], found["Scheme"], found["State"]["Code"]) == ("application", "internal", "active")
    assert given["LoadBalancerArn"] == arn
    assert given["LoadBalancerFullName"] == arn.split(":loadbalancer/")[1]
    assert given["DNSName"] == found["DNSName"]
    assert given["DNSName"].startswith(f"internal-{found['LoadBalancerName']}-")
    assert given["LoadBalancerName"] == found["LoadBalancerName"]
    assert given["CanonicalHostedZoneID"] == found["CanonicalHostedZoneId"]
    assert given["Groups"] == ",".join(found["SecurityGroups"])  # the network's default group
    assert given["Groups"].startswith("sg-")
    assert attributes(load_balancing, arn)["idle_timeout.timeout_seconds"] == "600"
    assert attributes(load_balancing, arn)["client_keep_alive.seconds"] == "3600"


def test_a_network_load_balancer_has_security_groups_and_its_own_names(
    deployed: DeployedStack, load_balancing: ElasticLoadBalancingv2Client, ec2: EC2Client, subnets: list[str], vpc: str
) -> None:
    group = ec2.create_security_group(GroupName="front", Description="front", VpcId=vpc)["GroupId"]
    deployed.deploy(
        Balancer=balancer(
            subnets[:1], {"load_balancing.cross_zone.enabled": "true"}, Type="network", SecurityGroups=[group]
        ),
        Targets=target_group(vpc, Protocol="TCP", HealthCheckProtocol="HTTP", HealthCheckPath="/health"),
        Listener=listener(forward(("Targets", 1)), Protocol="TCP"),
    )

    arn = deployed.physical_id("Balancer")
    found = described(load_balancing, arn)
    assert ":loadbalancer/net/" in arn
    assert found["SecurityGroups"] == [group]
    assert found["DNSName"].endswith(".elb.us-east-1.amazonaws.com")
    assert attributes(load_balancing, arn)["load_balancing.cross_zone.enabled"] == "true"
    targets = described(load_balancing, deployed.physical_id("Targets"))
    assert targets["Matcher"] == {"HttpCode": "200-399"}
    assert targets["LoadBalancerArns"] == [arn]


def test_a_load_balancer_changes_in_place_and_what_is_no_longer_said_goes_back(
    deployed: DeployedStack, load_balancing: ElasticLoadBalancingv2Client, ec2: EC2Client, subnets: list[str], vpc: str
) -> None:
    group = ec2.create_security_group(GroupName="front", Description="front", VpcId=vpc)["GroupId"]
    deployed.deploy(Balancer=balancer(subnets, {"idle_timeout.timeout_seconds": "600"}))
    arn = deployed.physical_id("Balancer")

    changed = balancer(subnets, {"deletion_protection.enabled": "true"}, SecurityGroups=[group])
    assert deployed.deploy(Balancer=changed) == "UPDATE_COMPLETE"

    assert deployed.physical_id("Balancer") == arn
    assert described(load_balancing, arn)["SecurityGroups"] == [group]
    assert attributes(load_balancing, arn)["idle_timeout.timeout_seconds"] == "60"
    assert deployed.delete() == "DELETE_FAILED"
    assert "deletion protection is enabled" in deployed.reasons("DELETE_FAILED")[0]
    load_balancing.modify_load_balancer_attributes(
        LoadBalancerArn=arn, Attributes=[{"Key": "deletion_protection.enabled", "Value": "false"}]
    )
    assert deployed.delete() == "DELETE_COMPLETE"
    assert load_balancing.describe_load_balancers()["LoadBalancers"] == []


@pytest.mark.parametrize(
    ("given", "properties", "message"),
    [
        ({"idle_timeout.timeout_seconds": "4001"}, {}, "'4001' must be between '1-4000' inclusive"),
        ({"idle_timeout.timeout_seconds": "0"}, {}, "'0' must be between '1-4000' inclusive"),
        ({"routing.http2.enabled": "yes"}, {}, "must be one of [true, false]"),
        ({"idle_timeout.timeout_seconds": "60"}, {"Type": "network"}, "not supported on load balancers with type"),
        ({}, {"SecurityGroups": ["sg-00000000"]}, "The security group 'sg-00000000' does not exist"),
    ],
)
def test_a_load_balancer_that_aws_refuses(
    deployed: DeployedStack,
    load_balancing: ElasticLoadBalancingv2Client,
    subnets: list[str],
    given: dict[str, str],
    properties: dict[str, Any],
    message: str,
) -> None:
    assert deployed.deploy(Balancer=balancer(subnets, given, **properties)) == "ROLLBACK_COMPLETE"
    assert message in deployed.reasons()[0]
    assert load_balancing.describe_load_balancers()["LoadBalancers"] == []


def test_an_application_load_balancer_needs_two_zones(deployed: DeployedStack, subnets: list[str]) -> None:
    deployed.deploy(Balancer=balancer(subnets[:1]))
    assert deployed.reasons() == ["At least two subnets in two different Availability Zones must be specified"]


def test_a_grpc_target_group_is_created_whole(
    deployed: DeployedStack, load_balancing: ElasticLoadBalancingv2Client, subnets: list[str], vpc: str
) -> None:
    deployed.deploy(
        {name: {"Fn::GetAtt": ["Targets", name]} for name in ("TargetGroupFullName", "TargetGroupName")},
        Balancer=balancer(subnets),
        Targets=target_group(
            vpc,
            {
                "deregistration_delay.timeout_seconds": "3600",
                "load_balancing.algorithm.type": "least_outstanding_requests",
            },
            ProtocolVersion="GRPC",
            HealthCheckIntervalSeconds=10,
            HealthCheckTimeoutSeconds=5,
            HealthyThresholdCount=2,
            UnhealthyThresholdCount=3,
            Matcher={"GrpcCode": "0-99"},
        ),
        Listener=listener(forward(("Targets", 1))),
    )

    arn = deployed.physical_id("Targets")
    found = described(load_balancing, arn)
    assert found["ProtocolVersion"] == "GRPC"
    assert found["Matcher"] == {"GrpcCode": "0-99"}
    assert found["HealthCheckPath"] == "/AWS.ALB/healthcheck"
    assert (found["HealthyThresholdCount"], found["UnhealthyThresholdCount"]) == (2, 3)
    assert found["LoadBalancerArns"] == [deployed.physical_id("Balancer")]
    assert attributes(load_balancing, arn)["deregistration_delay.timeout_seconds"] == "3600"
    assert attributes(load_balancing, arn)["load_balancing.algorithm.type"] == "least_outstanding_requests"
    assert deployed.outputs()["TargetGroupFullName"] == arn.rpartition(":")[2]


def test_health_checks_and_attributes_change_in_place(
    deployed: DeployedStack, load_balancing: ElasticLoadBalancingv2Client, vpc: str
) -> None:
    deployed.deploy(
        Targets=target_group(vpc, {"slow_start.duration_seconds": "60"}, HealthCheckPath="/a", HealthyThresholdCount=2)
    )
    arn = deployed.physical_id("Targets")

    deployed.deploy(Targets=target_group(vpc, HealthCheckPath="/b", Matcher={"HttpCode": "200-299"}))

    assert deployed.physical_id("Targets") == arn
    found = described(load_balancing, arn)
    assert (found["HealthCheckPath"], found["HealthyThresholdCount"]) == ("/b", 5)
    assert found["Matcher"] == {"HttpCode": "200-299"}
    assert attributes(load_balancing, arn)["slow_start.duration_seconds"] == "0"


def test_another_port_makes_another_target_group_and_the_listener_follows(
    deployed: DeployedStack, load_balancing: ElasticLoadBalancingv2Client, subnets: list[str], vpc: str
) -> None:
    others = {"Balancer": balancer(subnets), "Listener": listener(forward(("Targets", 1)))}
    deployed.deploy(Targets=target_group(vpc), **others)
    before, front = deployed.physical_id("Targets"), deployed.physical_id("Listener")

    assert deployed.deploy(Targets=target_group(vpc, Port=9000), **others) == "UPDATE_COMPLETE"

    after = deployed.physical_id("Targets")
    assert after != before
    assert deployed.physical_id("Listener") == front
    [found] = load_balancing.describe_listeners(ListenerArns=[front])["Listeners"]
    assert found["DefaultActions"][0]["TargetGroupArn"] == after
    assert [group["TargetGroupArn"] for group in load_balancing.describe_target_groups()["TargetGroups"]] == [after]


def test_what_has_a_name_of_its_own_is_not_replaced(deployed: DeployedStack, vpc: str) -> None:
    deployed.deploy(Targets=target_group(vpc, Name="models"))
    assert deployed.deploy(Targets=target_group(vpc, Name="models", Port=9000)) == "UPDATE_ROLLBACK_COMPLETE"
    assert "custom-named resource requires replacing" in deployed.reasons("UPDATE_FAILED")[0]


@pytest.mark.parametrize(
    ("given", "properties", "message"),
    [
        ({}, {"ProtocolVersion": "GRPC", "Matcher": {"HttpCode": "200"}}, "You cannot specify an HTTP code"),
        ({}, {"ProtocolVersion": "HTTP2", "Matcher": {"GrpcCode": "0"}}, "only for a target group with protocol"),
        ({}, {"ProtocolVersion": "GRPC", "Matcher": {"GrpcCode": "100"}}, "between 0 and 99"),
        ({}, {"ProtocolVersion": "HTTP3"}, "must be one of [HTTP1, HTTP2, GRPC]"),
        ({}, {"ProtocolVersion": "HTTP2", "Protocol": "TCP"}, "only for target groups with the HTTP or HTTPS"),
        ({}, {"HealthCheckIntervalSeconds": 4}, "'4' must be between '5-300' inclusive"),
        ({}, {"UnhealthyThresholdCount": 11}, "'11' must be between '2-10' inclusive"),
        ({"deregistration_delay.timeout_seconds": "3601"}, {}, "'3601' must be between '0-3600' inclusive"),
        ({"load_balancing.algorithm.type": "fastest"}, {}, "must be one of [round_robin"),
        (
            {"slow_start.duration_seconds": "30", "load_balancing.algorithm.type": "least_outstanding_requests"},
            {},
            "You cannot enable both slow start",
        ),
    ],
)
def test_a_target_group_that_aws_refuses(
    deployed: DeployedStack, vpc: str, given: dict[str, str], properties: dict[str, Any], message: str
) -> None:
    assert deployed.deploy(Targets=target_group(vpc, given, **properties)) == "ROLLBACK_COMPLETE"
    assert message in deployed.reasons()[0]


def test_a_whole_front_is_deleted_to_the_last_piece(
    deployed: DeployedStack, load_balancing: ElasticLoadBalancingv2Client, subnets: list[str], vpc: str
) -> None:
    deployed.deploy(Balancer=balancer(subnets), Targets=target_group(vpc), Listener=listener(FIXED))

    assert deployed.delete() == "DELETE_COMPLETE"

    assert load_balancing.describe_load_balancers()["LoadBalancers"] == []
    assert load_balancing.describe_target_groups()["TargetGroups"] == []
