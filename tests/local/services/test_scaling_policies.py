"""Scaling policies and what else of a group serves requests: metrics, warm-up, draining, warm pools."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from gpu_constructs.local.clock import clock
from gpu_constructs.local.services.elbv2 import set_in_flight
from tests.local.services.group import Group
from tests.local.services.load_balanced import balancer, forward, listener, target_group
from tests.local.services.stack import DeployedStack

if TYPE_CHECKING:
    from mypy_boto3_autoscaling.client import AutoScalingClient
    from mypy_boto3_ec2.client import EC2Client
    from mypy_boto3_elbv2.client import ElasticLoadBalancingv2Client

QUEUE = {
    "Id": "queue",
    "MetricStat": {"Metric": {"Namespace": "Models", "MetricName": "Waiting"}, "Stat": "Average"},
    "ReturnData": False,
}
PER_NODE = {"Id": "each", "Expression": "queue / 4", "Label": "waiting a node"}
LABEL = {
    "Fn::Join": [
        "/",
        [{"Fn::GetAtt": ["Balancer", "LoadBalancerFullName"]}, {"Fn::GetAtt": ["Targets", "TargetGroupFullName"]}],
    ]
}


@pytest.fixture
def tier(ec2: EC2Client, subnets: list[str], template: str) -> dict[str, Any]:
    """A group behind a load balancer."""
    vpc = ec2.describe_subnets(SubnetIds=subnets)["Subnets"][0]["VpcId"]
    properties = {
        "MinSize": "1",
        "MaxSize": "4",
        "VPCZoneIdentifier": subnets,
        "LaunchTemplate": {"LaunchTemplateId": template, "Version": "1"},
        "TargetGroupARNs": [{"Ref": "Targets"}],
        "HealthCheckType": "EC2,ELB",
        "HealthCheckGracePeriod": 600,
        "DefaultInstanceWarmup": 300,
        "MetricsCollection": [{"Granularity": "1Minute"}],
    }
    return {
        "Balancer": balancer(subnets),
        "Targets": target_group(vpc, {"deregistration_delay.timeout_seconds": "120"}),
        "Listener": listener(forward(("Targets", 1))),
        "Group": {
            "Type": "AWS::AutoScaling::AutoScalingGroup",
            "Properties": properties,
            "DependsOn": "Listener",
        },
    }


@pytest.fixture
def policies(scaling: AutoScalingClient) -> Callable[[], dict[str, Any]]:
    return lambda: {found["PolicyType"]: found for found in scaling.describe_policies()["ScalingPolicies"]}


def tracking(target: float = 8, **specification: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::AutoScaling::ScalingPolicy",
        "Properties": {
            "AutoScalingGroupName": {"Ref": "Group"},
            "PolicyType": "TargetTrackingScaling",
            "TargetTrackingConfiguration": {"TargetValue": target, **specification},
        },
    }


def test_a_group_behind_a_load_balancer_is_described_as_it_was_written(
    deployed: DeployedStack, scaling: AutoScalingClient, tier: dict[str, Any]
) -> None:
    assert deployed.deploy(**tier) == "CREATE_COMPLETE"
    [group] = scaling.describe_auto_scaling_groups()["AutoScalingGroups"]
    assert group["DefaultInstanceWarmup"] == 300
    assert group["HealthCheckType"] == "EC2,ELB"
    assert group["TargetGroupARNs"] == [deployed.physical_id("Targets")]
    assert "GroupInServiceInstances" in [metric["Metric"] for metric in group["EnabledMetrics"]]

    del tier["Group"]["Properties"]["DefaultInstanceWarmup"]
    deployed.deploy(**tier)
    assert "DefaultInstanceWarmup" not in scaling.describe_auto_scaling_groups()["AutoScalingGroups"][0]


@pytest.mark.parametrize(
    "metric",
    [
        {"MetricName": "Waiting", "Namespace": "Models", "Statistic": "Average", "Dimensions": []},
        {"Metrics": [QUEUE, PER_NODE]},
    ],
)
def test_a_policy_follows_a_metric_of_our_own(
    deployed: DeployedStack, policies: Callable[[], dict[str, Any]], tier: dict[str, Any], metric: dict[str, Any]
) -> None:
    assert deployed.deploy(**tier, Policy=tracking(CustomizedMetricSpecification=metric)) == "CREATE_COMPLETE"
    followed = policies()["TargetTrackingScaling"]["TargetTrackingConfiguration"]
    assert followed["TargetValue"] == 8
    found = followed["CustomizedMetricSpecification"]
    assert found.get("MetricName") == metric.get("MetricName")
    assert [query["Id"] for query in found.get("Metrics", [])] == [query["Id"] for query in metric.get("Metrics", [])]


def test_a_policy_follows_the_requests_of_a_target(
    deployed: DeployedStack, policies: Callable[[], dict[str, Any]], tier: dict[str, Any]
) -> None:
    metric = {"PredefinedMetricType": "ALBRequestCountPerTarget", "ResourceLabel": LABEL}
    assert deployed.deploy(**tier, Policy=tracking(PredefinedMetricSpecification=metric)) == "CREATE_COMPLETE"
    followed = policies()["TargetTrackingScaling"]["TargetTrackingConfiguration"]["PredefinedMetricSpecification"]
    assert followed["ResourceLabel"].startswith("app/")
    assert "/targetgroup/" in followed["ResourceLabel"]


def test_a_step_policy_names_its_alarm(
    deployed: DeployedStack, policies: Callable[[], dict[str, Any]], tier: dict[str, Any]
) -> None:
    step = {
        "AutoScalingGroupName": {"Ref": "Group"},
        "PolicyType": "StepScaling",
        "AdjustmentType": "ChangeInCapacity",
        "StepAdjustments": [{"MetricIntervalLowerBound": 0, "ScalingAdjustment": 2}],
    }
    alarm = {
        "Namespace": "Models",
        "MetricName": "Waiting",
        "Statistic": "Maximum",
        "Period": 60,
        "EvaluationPeriods": 1,
        "Threshold": 10,
        "ComparisonOperator": "GreaterThanThreshold",
        "AlarmActions": [{"Ref": "Policy"}],
    }
    deployed.deploy(
        **tier,
        Policy={"Type": "AWS::AutoScaling::ScalingPolicy", "Properties": step},
        Alarm={"Type": "AWS::CloudWatch::Alarm", "Properties": alarm},
    )
    [found] = policies()["StepScaling"]["Alarms"]
    assert found["AlarmName"] == deployed.physical_id("Alarm")


@pytest.mark.parametrize(
    ("specification", "message"),
    [
        ({}, "Exactly one of PredefinedMetricSpecification"),
        (
            {"PredefinedMetricSpecification": {"PredefinedMetricType": "ALBRequestCountPerTarget"}},
            "The resource label '' is not valid",
        ),
        (
            {"CustomizedMetricSpecification": {"Metrics": [PER_NODE], "MetricName": "Waiting"}},
            "cannot specify both Metrics and a single metric",
        ),
        ({"CustomizedMetricSpecification": {"Metrics": [QUEUE]}}, "Exactly one element of the metrics list"),
    ],
)
def test_a_policy_that_aws_refuses(
    deployed: DeployedStack, tier: dict[str, Any], specification: dict[str, Any], message: str
) -> None:
    assert deployed.deploy(**tier, Policy=tracking(**specification)) == "ROLLBACK_COMPLETE"
    assert message in deployed.reasons()[0]


def test_a_negative_warm_up_is_refused(scaling: AutoScalingClient, make_group: Callable[..., Group]) -> None:
    group = make_group(1, DefaultInstanceWarmup=60)
    assert group.described()["DefaultInstanceWarmup"] == 60
    with pytest.raises(ClientError, match="DefaultInstanceWarmup"):
        scaling.update_auto_scaling_group(AutoScalingGroupName=group.name, DefaultInstanceWarmup=-2)


def test_a_busy_instance_is_waited_for_before_its_hook(
    deployed: DeployedStack,
    scaling: AutoScalingClient,
    ec2: EC2Client,
    load_balancing: ElasticLoadBalancingv2Client,
    tier: dict[str, Any],
) -> None:
    drain = {"LifecycleHookName": "drain", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}
    tier["Group"]["Properties"]["LifecycleHookSpecificationList"] = [drain]
    deployed.deploy(**tier)
    targets, group = deployed.physical_id("Targets"), Group(scaling, ec2, deployed.physical_id("Group"))
    old = group.only("InService")
    set_in_flight(targets, old, 3)

    scaling.terminate_instance_in_auto_scaling_group(InstanceId=old, ShouldDecrementDesiredCapacity=False)

    assert group.states()[old] == "Terminating"
    health = load_balancing.describe_target_health(TargetGroupArn=targets)["TargetHealthDescriptions"]
    assert {one["Target"]["Id"]: one["TargetHealth"]["State"] for one in health}[old] == "draining"
    clock.advance(60)
    assert group.states()[old] == "Terminating"
    set_in_flight(targets, old, 0)
    assert group.states()[old] == "Terminating:Wait"


def test_the_deregistration_delay_cuts_requests_off(
    deployed: DeployedStack, scaling: AutoScalingClient, ec2: EC2Client, tier: dict[str, Any]
) -> None:
    deployed.deploy(**tier)
    group = Group(scaling, ec2, deployed.physical_id("Group"))
    old = group.only("InService")
    set_in_flight(deployed.physical_id("Targets"), old, 1)
    scaling.terminate_instance_in_auto_scaling_group(InstanceId=old, ShouldDecrementDesiredCapacity=False)
    assert group.states()[old] == "Terminating"
    clock.advance(121)
    assert old not in group.states()


def test_requests_of_a_stranger_are_refused(deployed: DeployedStack, tier: dict[str, Any]) -> None:
    deployed.deploy(**tier)
    with pytest.raises(KeyError, match="i-0 was never registered"):
        set_in_flight(deployed.physical_id("Targets"), "i-0", 1)
    with pytest.raises(ValueError, match="must not be negative"):
        set_in_flight(deployed.physical_id("Targets"), "i-0", -1)


def test_a_whole_tier_is_deleted(deployed: DeployedStack, scaling: AutoScalingClient, tier: dict[str, Any]) -> None:
    pool = {"AutoScalingGroupName": {"Ref": "Group"}, "MinSize": 1, "PoolState": "Stopped"}
    deployed.deploy(**tier, Pool={"Type": "AWS::AutoScaling::WarmPool", "Properties": pool})
    assert deployed.delete() == "DELETE_COMPLETE"
    assert scaling.describe_auto_scaling_groups()["AutoScalingGroups"] == []
