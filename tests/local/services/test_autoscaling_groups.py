"""Groups: sizes, health, suspended processes, launches and what is said about them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from botocore.exceptions import ClientError
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models.instances import InstanceBackend

from gpu_constructs.local.clock import clock
from tests.local.services.group import Group

if TYPE_CHECKING:
    from mypy_boto3_autoscaling.client import AutoScalingClient
    from mypy_boto3_ec2.client import EC2Client

MakeGroup = Callable[..., Group]


@pytest.mark.parametrize(
    ("desired", "words"),
    [
        (5, "New SetDesiredCapacity value 5 is above max value 4 for the AutoScalingGroup."),
        (0, "New SetDesiredCapacity value 0 is below min value 1 for the AutoScalingGroup."),
    ],
)
def test_a_size_outside_of_the_limits_is_refused(desired: int, words: str, make_group: MakeGroup) -> None:
    group = make_group(1, MinSize=1)
    with pytest.raises(ClientError, match=words):
        group.resize(desired)
    assert group.summary() == ["InService"]


def test_new_limits_that_exclude_the_size_asked_for_are_refused(
    make_group: MakeGroup, scaling: AutoScalingClient
) -> None:
    make_group(1)
    with pytest.raises(ClientError, match="Desired capacity:6 must be between the specified min size:0 and max size:4"):
        scaling.update_auto_scaling_group(AutoScalingGroupName="nodes", DesiredCapacity=6)


def test_new_limits_move_the_size_when_they_must(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    group = make_group(1)
    scaling.update_auto_scaling_group(AutoScalingGroupName="nodes", MinSize=3)
    assert group.summary() == ["InService"] * 3


def test_a_group_with_instances_is_deleted_only_by_force(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    group = make_group(1, terminate_hook=300)
    node = group.only("InService")
    with pytest.raises(ClientError, match="You cannot delete an AutoScalingGroup while there are instances"):
        scaling.delete_auto_scaling_group(AutoScalingGroupName="nodes")
    scaling.delete_auto_scaling_group(AutoScalingGroupName="nodes", ForceDelete=True)
    assert scaling.describe_auto_scaling_groups()["AutoScalingGroups"] == []
    assert group.ec2_state(node) == "terminated"


def test_instances_are_spread_over_the_zones(make_group: MakeGroup) -> None:
    zones = [instance["AvailabilityZone"] for instance in make_group(4).described()["Instances"]]
    assert sorted(zones) == ["us-east-1a", "us-east-1a", "us-east-1b", "us-east-1b"]


def test_a_protected_instance_is_not_scaled_in(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    group = make_group(2)
    kept, _ = group.ids("InService")
    scaling.set_instance_protection(AutoScalingGroupName="nodes", InstanceIds=[kept], ProtectedFromScaleIn=True)
    group.resize(1)
    assert group.states() == {kept: "InService"}


def test_an_instance_keeps_the_template_version_it_was_launched_from(
    make_group: MakeGroup, scaling: AutoScalingClient, ec2: EC2Client, template: str
) -> None:
    group = make_group(1, PlacementGroup="together")
    old = group.only("InService")
    ec2.create_launch_template_version(
        LaunchTemplateId=template, SourceVersion="1", LaunchTemplateData={"InstanceType": "p5.48xlarge"}
    )
    ec2.modify_launch_template(LaunchTemplateId=template, DefaultVersion="2")
    group.resize(2)
    described = scaling.describe_auto_scaling_instances()["AutoScalingInstances"]
    versions = {instance["InstanceId"]: instance["LaunchTemplate"]["Version"] for instance in described}
    [new] = set(versions) - {old}
    assert (versions[old], versions[new]) == ("1", "2")
    assert group.instance(old)["InstanceType"] == "p4d.24xlarge"
    assert group.instance(new)["InstanceType"] == "p5.48xlarge"
    tags = {tag["Key"]: tag["Value"] for tag in group.instance(new)["Tags"]}
    assert tags["aws:ec2launchtemplate:version"] == "2"
    assert group.instance(old)["Placement"]["GroupName"] == "together"


def test_a_mixed_group_buys_its_base_on_demand_and_the_rest_as_spot(make_group: MakeGroup, template: str) -> None:
    group = make_group(
        3,
        MixedInstancesPolicy={
            "LaunchTemplate": {
                "LaunchTemplateSpecification": {"LaunchTemplateId": template, "Version": "1"},
                "Overrides": [{"InstanceType": "g5.xlarge"}, {"InstanceType": "g6.xlarge"}],
            },
            "InstancesDistribution": {"OnDemandBaseCapacity": 1, "OnDemandPercentageAboveBaseCapacity": 0},
        },
    )
    instances = [group.instance(instance_id) for instance_id in group.states()]
    assert sorted(instance.get("InstanceLifecycle", "on-demand") for instance in instances) == [
        "on-demand",
        "spot",
        "spot",
    ]
    assert {instance["InstanceType"] for instance in instances} == {"g5.xlarge"}


def test_an_unhealthy_instance_is_replaced_through_the_hooks(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    group = make_group(1, terminate_hook=300)
    sick = group.only("InService")
    scaling.set_instance_health(InstanceId=sick, HealthStatus="Unhealthy")
    assert group.states()[sick] == "Terminating:Wait"
    assert group.summary() == ["InService", "Terminating:Wait"]


def test_a_report_may_respect_the_grace_period(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    group = make_group(1, HealthCheckGracePeriod=300)
    node = group.only("InService")
    scaling.set_instance_health(InstanceId=node, HealthStatus="Unhealthy")
    assert group.states() == {node: "InService"}
    clock.advance(301)
    assert node not in group.states()


def test_a_report_need_not_respect_the_grace_period(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    group = make_group(1, HealthCheckGracePeriod=300)
    node = group.only("InService")
    scaling.set_instance_health(InstanceId=node, HealthStatus="Unhealthy", ShouldRespectGracePeriod=False)
    assert node not in group.states()


def test_a_stopped_instance_is_replaced(make_group: MakeGroup, ec2: EC2Client) -> None:
    group = make_group(1)
    node = group.only("InService")
    ec2.stop_instances(InstanceIds=[node])
    assert group.only("InService") != node


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            {"InstanceId": "i-0123456789abcdef0", "HealthStatus": "Unhealthy"},
            "No managed instance found for instance ID",
        ),
        ({"InstanceId": None, "HealthStatus": "Sick"}, "Valid instance health states are: .Healthy, Unhealthy."),
    ],
)
def test_a_wrong_health_report_is_refused(
    call: dict[str, Any], words: str, make_group: MakeGroup, scaling: AutoScalingClient
) -> None:
    node = make_group(1).only("InService")
    with pytest.raises(ClientError, match=words):
        scaling.set_instance_health(**{**call, "InstanceId": call["InstanceId"] or node})


def test_without_launch_nothing_is_launched_until_it_is_resumed(make_group: MakeGroup) -> None:
    group = make_group(0)
    group.suspend("Launch")
    group.resize(1)
    assert group.summary() == []
    group.resume("Launch")
    assert group.summary() == ["InService"]


def test_without_terminate_nothing_is_scaled_in_until_it_is_resumed(make_group: MakeGroup) -> None:
    group = make_group(2)
    group.suspend("Terminate")
    group.resize(1)
    assert group.summary() == ["InService", "InService"]
    group.resume("Terminate")
    assert group.summary() == ["InService"]


def test_without_replace_unhealthy_the_sick_stay(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    group = make_group(1)
    node = group.only("InService")
    group.suspend("ReplaceUnhealthy")
    scaling.set_instance_health(InstanceId=node, HealthStatus="Unhealthy")
    assert group.states() == {node: "InService"}
    group.resume("ReplaceUnhealthy")
    assert node not in group.states()


def test_terminating_without_replacement_below_the_minimum_is_refused(
    make_group: MakeGroup, scaling: AutoScalingClient
) -> None:
    node = make_group(1, MinSize=1).only("InService")
    with pytest.raises(ClientError, match="will violate group's min size constraint"):
        scaling.terminate_instance_in_auto_scaling_group(InstanceId=node, ShouldDecrementDesiredCapacity=True)


def test_a_step_policy_scales_within_the_limits(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    group = make_group(1)
    scaling.put_scaling_policy(
        AutoScalingGroupName="nodes",
        PolicyName="busy",
        PolicyType="StepScaling",
        AdjustmentType="ChangeInCapacity",
        StepAdjustments=[{"MetricIntervalLowerBound": 0, "ScalingAdjustment": 9}],
    )
    scaling.execute_policy(AutoScalingGroupName="nodes", PolicyName="busy", MetricValue=80, BreachThreshold=60)
    assert group.summary() == ["InService"] * 4


def test_activities_say_what_happened_and_why_newest_first(make_group: MakeGroup) -> None:
    group = make_group(1, launch_hook=300)
    node = group.only("Pending:Wait")
    assert group.activities()[0]["StatusCode"] == "MidLifecycleAction"
    group.complete(node)
    group.resize(0)
    terminated, launched = group.activities()
    assert launched["Description"] == f"Launching a new EC2 instance: {node}"
    assert "changing the desired capacity from 0 to 1" in launched["Cause"]
    assert terminated["Description"] == f"Terminating EC2 instance: {node}"
    assert f"instance {node} was selected for termination" in terminated["Cause"]
    assert (launched["StatusCode"], terminated["StatusCode"]) == ("Successful", "Successful")


def test_a_launch_that_ec2_refuses_is_a_failed_activity_and_tried_again_later(make_group: MakeGroup) -> None:
    group = make_group(0)
    message = "We currently do not have sufficient p4d.24xlarge capacity."
    refused = EC2ClientError("InsufficientInstanceCapacity", message)
    with patch.object(InstanceBackend, "run_instances", side_effect=refused):
        group.resize(1)
        [activity] = group.activities()
    assert activity["StatusCode"] == "Failed"
    assert activity["StatusMessage"].startswith(message)
    assert group.summary() == []
    clock.advance(61)
    assert group.summary() == ["InService"]
