"""Target health by the clock, and what a group makes of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from gpu_constructs.local.clock import clock
from gpu_constructs.local.services.elbv2 import set_probe_result
from tests.local.services.group import Group

if TYPE_CHECKING:
    from mypy_boto3_autoscaling.client import AutoScalingClient
    from mypy_boto3_ec2.client import EC2Client
    from mypy_boto3_elbv2.client import ElasticLoadBalancingv2Client

MakeGroup = Callable[..., Group]
INTERVAL, HEALTHY, UNHEALTHY, DELAY = 10, 3, 2, 60


class Targets:
    """A target group, asked for the state and reason of its targets."""

    def __init__(self, client: ElasticLoadBalancingv2Client, arn: str) -> None:
        self.client = client
        self.arn = arn

    def health(self, target_id: str) -> tuple[str, str | None]:
        [found] = self.client.describe_target_health(TargetGroupArn=self.arn, Targets=[{"Id": target_id}])[
            "TargetHealthDescriptions"
        ]
        return found["TargetHealth"]["State"], found["TargetHealth"].get("Reason")

    def listed(self) -> dict[str, str]:
        found = self.client.describe_target_health(TargetGroupArn=self.arn)["TargetHealthDescriptions"]
        return {entry["Target"]["Id"]: entry["TargetHealth"]["State"] for entry in found}


@pytest.fixture
def targets(load_balancing: ElasticLoadBalancingv2Client, ec2: EC2Client, subnets: list[str]) -> Targets:
    vpc = ec2.describe_subnets(SubnetIds=subnets)["Subnets"][0]["VpcId"]
    created = load_balancing.create_target_group(
        Name="models",
        Protocol="HTTP",
        Port=8000,
        VpcId=vpc,
        HealthCheckPath="/ready",
        HealthCheckIntervalSeconds=INTERVAL,
        HealthCheckTimeoutSeconds=5,
        HealthyThresholdCount=HEALTHY,
        UnhealthyThresholdCount=UNHEALTHY,
    )["TargetGroups"][0]["TargetGroupArn"]
    load_balancing.modify_target_group_attributes(
        TargetGroupArn=created,
        Attributes=[{"Key": "deregistration_delay.timeout_seconds", "Value": str(DELAY)}],
    )
    return Targets(load_balancing, created)


@pytest.fixture
def make_served(make_group: MakeGroup, targets: Targets) -> MakeGroup:
    def make(desired: int = 1, **settings: object) -> Group:
        return make_group(desired, TargetGroupARNs=[targets.arn], **settings)

    return make


def test_a_target_becomes_healthy_after_as_many_checks_as_asked_for(make_served: MakeGroup, targets: Targets) -> None:
    node = make_served().only("InService")
    assert targets.health(node) == ("initial", "Elb.RegistrationInProgress")
    clock.advance(INTERVAL + 1)
    assert targets.health(node) == ("initial", "Elb.InitialHealthChecking")
    clock.advance(INTERVAL * (HEALTHY - 1))
    assert targets.health(node) == ("healthy", None)


def test_a_failing_target_is_unhealthy_after_as_many_checks_as_asked_for_and_recovers(
    make_served: MakeGroup, targets: Targets
) -> None:
    node = make_served().only("InService")
    clock.advance(INTERVAL * HEALTHY + 1)
    set_probe_result(targets.arn, node, healthy=False)
    clock.advance(INTERVAL)
    assert targets.health(node) == ("healthy", None)
    clock.advance(INTERVAL + 1)
    assert targets.health(node) == ("unhealthy", "Target.FailedHealthChecks")
    set_probe_result(targets.arn, node, healthy=True)
    clock.advance(INTERVAL)
    assert targets.health(node) == ("unhealthy", "Target.FailedHealthChecks")
    clock.advance(INTERVAL * HEALTHY)
    assert targets.health(node) == ("healthy", None)


def test_one_failed_check_is_forgiven(make_served: MakeGroup, targets: Targets) -> None:
    node = make_served().only("InService")
    clock.advance(INTERVAL * HEALTHY + 1)
    set_probe_result(targets.arn, node, healthy=False)
    clock.advance(INTERVAL)
    set_probe_result(targets.arn, node, healthy=True)
    clock.advance(INTERVAL * 10)
    assert targets.health(node) == ("healthy", None)


def test_a_deregistered_target_drains_and_is_then_unused(
    make_served: MakeGroup, targets: Targets, load_balancing: ElasticLoadBalancingv2Client
) -> None:
    node = make_served().only("InService")
    load_balancing.deregister_targets(TargetGroupArn=targets.arn, Targets=[{"Id": node}])
    assert targets.health(node) == ("draining", "Target.DeregistrationInProgress")
    assert targets.listed() == {node: "draining"}
    clock.advance(DELAY + 1)
    assert targets.health(node) == ("unused", "Target.NotRegistered")
    assert targets.listed() == {}


def test_a_stopped_target_is_unused(make_served: MakeGroup, targets: Targets, ec2: EC2Client) -> None:
    group = make_served()
    node = group.only("InService")
    group.suspend("ReplaceUnhealthy")
    ec2.stop_instances(InstanceIds=[node])
    assert targets.health(node) == ("unused", "Target.InvalidState")


def test_a_terminated_target_outside_of_a_group_is_unused(
    targets: Targets, ec2: EC2Client, load_balancing: ElasticLoadBalancingv2Client, subnets: list[str]
) -> None:
    run = ec2.run_instances(ImageId="ami-12c6146b", MinCount=1, MaxCount=1, SubnetId=subnets[0])
    node = run["Instances"][0]["InstanceId"]
    load_balancing.register_targets(TargetGroupArn=targets.arn, Targets=[{"Id": node}])
    ec2.terminate_instances(InstanceIds=[node])
    assert targets.health(node) == ("unused", "Target.InvalidState")


def test_only_instances_in_service_are_targets(make_served: MakeGroup, targets: Targets) -> None:
    group = make_served(launch_hook=300)
    node = group.only("Pending:Wait")
    assert targets.listed() == {}
    group.complete(node)
    assert targets.listed() == {node: "initial"}


def test_a_leaving_instance_is_deregistered_before_its_hook(make_served: MakeGroup, targets: Targets) -> None:
    group = make_served(terminate_hook=300)
    node = group.only("InService")
    group.resize(0)
    assert group.states() == {node: "Terminating:Wait"}
    assert targets.health(node) == ("draining", "Target.DeregistrationInProgress")


def test_a_node_that_asks_for_its_termination_is_deregistered_and_its_replacement_registered(
    make_served: MakeGroup, targets: Targets, scaling: AutoScalingClient
) -> None:
    group = make_served(terminate_hook=300)
    old = group.only("InService")
    scaling.terminate_instance_in_auto_scaling_group(InstanceId=old, ShouldDecrementDesiredCapacity=False)
    assert targets.listed() == {old: "draining", group.only("InService"): "initial"}


def test_what_comes_into_service_while_add_to_load_balancer_is_suspended_is_never_added(
    make_served: MakeGroup, targets: Targets
) -> None:
    group = make_served(0)
    group.suspend("AddToLoadBalancer")
    group.resize(1)
    assert group.summary() == ["InService"]
    group.resume("AddToLoadBalancer")
    group.resize(2)
    assert len(targets.listed()) == 1


def test_an_unhealthy_target_is_replaced_after_the_grace_period(make_served: MakeGroup, targets: Targets) -> None:
    group = make_served(HealthCheckType="ELB", HealthCheckGracePeriod=120)
    node = group.only("InService")
    set_probe_result(targets.arn, node, healthy=False)
    clock.advance(INTERVAL * UNHEALTHY + 1)
    assert targets.health(node) == ("unhealthy", "Target.FailedHealthChecks")
    assert group.states() == {node: "InService"}
    clock.advance(120)
    assert group.only("InService") != node
    assert any("ELB system health check failure" in activity["Cause"] for activity in group.activities())


def test_an_unhealthy_target_stays_where_the_group_looks_at_ec2_only(make_served: MakeGroup, targets: Targets) -> None:
    group = make_served()
    node = group.only("InService")
    set_probe_result(targets.arn, node, healthy=False)
    clock.advance(INTERVAL * UNHEALTHY + 1)
    assert group.states() == {node: "InService"}


def test_a_target_group_attached_later_takes_in_what_is_in_service(
    make_group: MakeGroup, targets: Targets, scaling: AutoScalingClient
) -> None:
    group = make_group(2)
    scaling.attach_load_balancer_target_groups(AutoScalingGroupName="nodes", TargetGroupARNs=[targets.arn])
    assert set(targets.listed()) == set(group.ids("InService"))


def test_a_probe_of_a_stranger_is_refused(targets: Targets) -> None:
    with pytest.raises(KeyError, match="i-0123456789abcdef0 is not registered"):
        set_probe_result(targets.arn, "i-0123456789abcdef0", healthy=False)
    with pytest.raises(KeyError, match="no target group nowhere"):
        set_probe_result("nowhere", "i-0123456789abcdef0", healthy=False)
