"""What a report says of a tier: each table, read back by boto3."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from gpu_constructs.local import report_serving
from tests.local.services.load_balanced import TO_HTTPS, balancer, forward, listener, rule, target_group
from tests.local.services.stack import DeployedStack
from tests.local.services.test_listeners import CERTIFICATE, HEADER, PATH, SECURE
from tests.local.services.test_scaling_policies import PER_NODE, QUEUE, tracking

if TYPE_CHECKING:
    from mypy_boto3_ec2.client import EC2Client


def test_every_table_of_a_tier(
    deployed: DeployedStack, of: Callable[[str], Any], ec2: EC2Client, subnets: list[str], template: str
) -> None:
    vpc = ec2.describe_subnets(SubnetIds=subnets)["Subnets"][0]["VpcId"]
    group = {
        "MinSize": "1",
        "MaxSize": "2",
        "VPCZoneIdentifier": subnets,
        "LaunchTemplate": {"LaunchTemplateId": template, "Version": "1"},
        "TargetGroupARNs": [{"Ref": "Blue"}],
    }
    pool = {"AutoScalingGroupName": {"Ref": "Group"}, "PoolState": "Stopped"}
    redrive = {"deadLetterTargetArn": {"Fn::GetAtt": ["Dead", "Arn"]}, "maxReceiveCount": 3}
    deployed.deploy(
        Balancer=balancer(subnets, {"idle_timeout.timeout_seconds": "600"}),
        Blue=target_group(vpc, Name="blue", ProtocolVersion="HTTP2", HealthCheckIntervalSeconds=10),
        Green=target_group(vpc, Name="green"),
        Cert=CERTIFICATE,
        Plain=listener(TO_HTTPS),
        Listener=listener(forward(("Blue", 9), ("Green", 1)), **SECURE),
        Rule=rule(5, [PATH, HEADER], forward(("Green", 1))),
        Group={"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": group},
        Pool={"Type": "AWS::AutoScaling::WarmPool", "Properties": pool},
        Policy=tracking(CustomizedMetricSpecification={"Metrics": [QUEUE, PER_NODE]}),
        Dead={"Type": "AWS::SQS::Queue"},
        Queue={"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "work", "RedrivePolicy": redrive}},
    )
    assert deployed.reasons() == []

    def rows(section: Callable[..., Any], *logical_ids: str) -> list[tuple[str, ...]]:
        return list(section(of, [deployed.physical_id(one) for one in logical_ids]))

    [(_, *said)] = rows(report_serving.load_balancers, "Balancer")
    assert said == ["application", "internal", "600 s"]
    certificate = deployed.physical_id("Cert").rpartition("/")[2]
    assert rows(report_serving.listeners, "Plain", "Listener") == [
        ("HTTP 80", "certificate", "none"),
        ("rule default", "otherwise", "to HTTPS 443"),
        ("HTTPS 443", "certificate", certificate),
        ("rule 5", "path-pattern /v1/* and x-model llama*", "green"),
        ("rule default", "otherwise", "blue (9) + green (1)"),
    ]
    assert rows(report_serving.target_groups, "Blue", "Green") == [
        ("blue", "HTTP 8000 HTTP2", "/ 200 every 10 s", "1 initial"),
        ("green", "HTTP 8000 HTTP1", "/ 200 every 30 s", "none"),
    ]
    [(_, *said)] = rows(report_serving.policies, "Policy")
    assert said == ["TargetTrackingScaling", "waiting a node", "8"]
    [(_, *said)] = rows(report_serving.warm_pools, "Pool")
    assert said == ["Stopped", "0 at least", "1 Warmed:Stopped"]
    dead = deployed.physical_id("Dead").rpartition("/")[2]
    assert rows(report_serving.queues, "Queue") == [("work", "0 waiting", "SSE-SQS", f"{dead} after 3")]
