"""The CloudFormation types, deployed as stacks: created, updated in place, deleted."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.local.services.group import Group

if TYPE_CHECKING:
    from mypy_boto3_autoscaling.client import AutoScalingClient
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_ec2.client import EC2Client

LAUNCHING = "autoscaling:EC2_INSTANCE_LAUNCHING"
BOOT = {"LifecycleHookName": "boot", "LifecycleTransition": LAUNCHING, "HeartbeatTimeout": 300}


class Stack:
    """A stack whose resources are the group's and what a test adds to them."""

    def __init__(
        self, cloudformation: CloudFormationClient, scaling: AutoScalingClient, ec2: EC2Client, base: dict[str, Any]
    ) -> None:
        self.cloudformation, self.scaling, self.ec2, self.base = cloudformation, scaling, ec2, base
        self.created = False

    def deploy(self, group: dict[str, Any], outputs: dict[str, Any] | None = None, **others: Any) -> None:
        resources = {"Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": {**self.base, **group}}}
        template = {
            "Resources": {**resources, **others},
            "Outputs": {name: {"Value": value} for name, value in (outputs or {}).items()},
        }
        act = self.cloudformation.update_stack if self.created else self.cloudformation.create_stack
        act(StackName="stack", TemplateBody=json.dumps(template))
        self.created = True

    def outputs(self) -> dict[str, str]:
        stack = self.cloudformation.describe_stacks(StackName="stack")["Stacks"][0]
        return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}

    def group(self) -> Group:
        [found] = self.scaling.describe_auto_scaling_groups()["AutoScalingGroups"]
        return Group(self.scaling, self.ec2, found["AutoScalingGroupName"])


@pytest.fixture
def stack(
    cloudformation: CloudFormationClient,
    scaling: AutoScalingClient,
    ec2: EC2Client,
    subnets: list[str],
    template: str,
) -> Stack:
    base = {
        "MinSize": "0",
        "MaxSize": "4",
        "VPCZoneIdentifier": subnets,
        "LaunchTemplate": {"LaunchTemplateId": template, "Version": "1"},
    }
    return Stack(cloudformation, scaling, ec2, base)


def policy(**properties: Any) -> dict[str, Any]:
    return {
        "Type": "AWS::AutoScaling::ScalingPolicy",
        "Properties": {"AutoScalingGroupName": {"Ref": "Group"}, **properties},
    }


def test_inline_hooks_are_met_by_the_first_instances(stack: Stack) -> None:
    stack.deploy({"DesiredCapacity": "2", "LifecycleHookSpecificationList": [BOOT]})
    assert stack.group().summary() == ["Pending:Wait", "Pending:Wait"]


def test_a_groups_properties_arrive(stack: Stack) -> None:
    stack.deploy(
        {
            "DesiredCapacity": "1",
            "PlacementGroup": "together",
            "CapacityRebalance": True,
            "HealthCheckGracePeriod": 60,
            "TerminationPolicies": ["OldestInstance"],
            "MetricsCollection": [{"Granularity": "1Minute", "Metrics": ["GroupInServiceInstances"]}],
        },
        outputs={"Name": {"Ref": "Group"}, "Arn": {"Fn::GetAtt": ["Group", "AutoScalingGroupARN"]}},
    )
    described = stack.group().described()
    assert described["PlacementGroup"] == "together"
    assert described["CapacityRebalance"] is True
    assert described["HealthCheckGracePeriod"] == 60
    assert described["TerminationPolicies"] == ["OldestInstance"]
    assert described["EnabledMetrics"] == [{"Metric": "GroupInServiceInstances", "Granularity": "1Minute"}]
    assert stack.outputs() == {"Name": stack.group().name, "Arn": described["AutoScalingGroupARN"]}


def test_an_update_leaves_the_instances_alone(stack: Stack) -> None:
    stack.deploy({"DesiredCapacity": "2"})
    before = stack.group().states()
    stack.deploy({"DesiredCapacity": "2", "MaxSize": "6", "HealthCheckGracePeriod": 90})
    assert stack.group().states() == before
    described = stack.group().described()
    assert (described["MaxSize"], described["HealthCheckGracePeriod"]) == (6, 90)


def test_an_update_that_does_not_change_the_size_keeps_the_running_size(stack: Stack) -> None:
    stack.deploy({"DesiredCapacity": "1"})
    stack.group().resize(3)
    stack.deploy({"DesiredCapacity": "1", "MaxSize": "6"})
    assert stack.group().summary() == ["InService"] * 3


def test_an_update_that_changes_the_size_sets_it(stack: Stack) -> None:
    stack.deploy({"DesiredCapacity": "1"})
    stack.group().resize(3)
    stack.deploy({"DesiredCapacity": "2"})
    assert stack.group().summary() == ["InService"] * 2


def test_a_new_name_is_a_new_group(stack: Stack) -> None:
    stack.deploy({"DesiredCapacity": "1", "AutoScalingGroupName": "blue"})
    old = stack.group().only("InService")
    stack.deploy({"DesiredCapacity": "1", "AutoScalingGroupName": "green"})
    assert stack.group().name == "green"
    assert stack.group().only("InService") != old


def test_an_update_changes_inline_hooks(stack: Stack) -> None:
    stack.deploy({"LifecycleHookSpecificationList": [{**BOOT, "NotificationMetadata": "first"}]})
    stack.deploy({"LifecycleHookSpecificationList": [{**BOOT, "HeartbeatTimeout": 600}]})
    [hook] = stack.scaling.describe_lifecycle_hooks(AutoScalingGroupName=stack.group().name)["LifecycleHooks"]
    assert hook["HeartbeatTimeout"] == 600
    assert "NotificationMetadata" not in hook


def test_a_hook_of_its_own_is_put_changed_and_deleted(stack: Stack) -> None:
    def hook(seconds: int) -> dict[str, Any]:
        properties = {
            "AutoScalingGroupName": {"Ref": "Group"},
            "LifecycleHookName": "drain",
            "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING",
            "HeartbeatTimeout": seconds,
        }
        return {"Type": "AWS::AutoScaling::LifecycleHook", "Properties": properties}

    def described() -> list[Any]:
        return list(stack.scaling.describe_lifecycle_hooks(AutoScalingGroupName=stack.group().name)["LifecycleHooks"])

    stack.deploy({}, outputs={"Hook": {"Ref": "Hook"}}, Hook=hook(60))
    assert stack.outputs() == {"Hook": "drain"}
    stack.deploy({}, Hook=hook(90))
    assert [(found["LifecycleHookName"], found["HeartbeatTimeout"]) for found in described()] == [("drain", 90)]
    stack.deploy({})
    assert described() == []


def test_policies_of_every_kind_are_put_changed_and_deleted(stack: Stack) -> None:
    def tracking(target: float) -> dict[str, Any]:
        metric = {"PredefinedMetricType": "ASGAverageCPUUtilization"}
        return policy(
            PolicyType="TargetTrackingScaling",
            TargetTrackingConfiguration={"TargetValue": target, "PredefinedMetricSpecification": metric},
        )

    step = policy(
        PolicyType="StepScaling",
        AdjustmentType="ChangeInCapacity",
        StepAdjustments=[{"MetricIntervalLowerBound": 0, "ScalingAdjustment": 1}],
    )
    simple = policy(AdjustmentType="ChangeInCapacity", ScalingAdjustment=1, Cooldown="60")

    def described() -> dict[str, Any]:
        found = stack.scaling.describe_policies(AutoScalingGroupName=stack.group().name)["ScalingPolicies"]
        return {entry["PolicyType"]: entry for entry in found}

    outputs = {"Ref": {"Ref": "Track"}, "Name": {"Fn::GetAtt": ["Track", "PolicyName"]}}
    stack.deploy({}, outputs=outputs, Track=tracking(60), Step=step, Simple=simple)
    first = described()
    assert set(first) == {"TargetTrackingScaling", "StepScaling", "SimpleScaling"}
    assert first["StepScaling"]["StepAdjustments"] == [{"MetricIntervalLowerBound": 0.0, "ScalingAdjustment": 1}]
    assert first["SimpleScaling"]["Cooldown"] == 60
    tracked = first["TargetTrackingScaling"]
    assert stack.outputs() == {"Ref": tracked["PolicyARN"], "Name": tracked["PolicyName"]}

    stack.deploy({}, Track=tracking(75))
    assert set(described()) == {"TargetTrackingScaling"}
    changed = described()["TargetTrackingScaling"]
    assert changed["TargetTrackingConfiguration"]["TargetValue"] == 75
    assert changed["PolicyARN"] == tracked["PolicyARN"]


def test_a_warm_pool_is_put_changed_and_deleted(stack: Stack) -> None:
    def pool(**properties: Any) -> dict[str, Any]:
        return {
            "Type": "AWS::AutoScaling::WarmPool",
            "Properties": {"AutoScalingGroupName": {"Ref": "Group"}, **properties},
        }

    stack.deploy({"DesiredCapacity": "1"}, outputs={"Pool": {"Ref": "Pool"}}, Pool=pool(MinSize=2, PoolState="Running"))
    assert stack.outputs() == {"Pool": stack.group().name}
    assert stack.group().warm() == ["Warmed:Running"] * 3
    stack.deploy({"DesiredCapacity": "1"}, Pool=pool(MaxGroupPreparedCapacity=2, PoolState="Running"))
    assert stack.group().warm() == ["Warmed:Running"]
    stack.deploy({"DesiredCapacity": "1"})
    assert "WarmPoolConfiguration" not in stack.group().described()


def test_a_deleted_stack_takes_everything_with_it(stack: Stack) -> None:
    pool = {"Type": "AWS::AutoScaling::WarmPool", "Properties": {"AutoScalingGroupName": {"Ref": "Group"}}}
    simple = policy(AdjustmentType="ChangeInCapacity", ScalingAdjustment=1)
    stack.deploy({"DesiredCapacity": "1"}, Pool=pool, Simple=simple)
    stack.cloudformation.delete_stack(StackName="stack")
    assert stack.scaling.describe_auto_scaling_groups()["AutoScalingGroups"] == []
    assert stack.scaling.describe_policies()["ScalingPolicies"] == []
    reservations = stack.ec2.describe_instances()["Reservations"]
    assert {i["State"]["Name"] for reservation in reservations for i in reservation["Instances"]} == {"terminated"}


def test_nodes_have_what_the_stacks_own_launch_template_says(stack: Stack, subnets: list[str]) -> None:
    vpc = stack.ec2.describe_subnets(SubnetIds=subnets)["Subnets"][0]["VpcId"]
    role = {"Version": "2012-10-17", "Statement": []}
    interfaces = [
        {"DeviceIndex": 0, "NetworkCardIndex": 0, "Groups": [{"Fn::GetAtt": ["Firewall", "GroupId"]}]},
        {"DeviceIndex": 1, "NetworkCardIndex": 1, "InterfaceType": "efa-only"},
    ]
    data = {
        "ImageId": "ami-12c6146b",
        "InstanceType": "p5.48xlarge",
        "UserData": {"Fn::Base64": "#!/bin/sh"},
        "IamInstanceProfile": {"Arn": {"Fn::GetAtt": ["Profile", "Arn"]}},
        "MetadataOptions": {"HttpTokens": "required", "HttpPutResponseHopLimit": 2},
        "NetworkInterfaces": interfaces,
        "InstanceMarketOptions": {"MarketType": "spot"},
    }
    stack.deploy(
        {
            "DesiredCapacity": "1",
            "LaunchTemplate": {
                "LaunchTemplateId": {"Ref": "Template"},
                "Version": {"Fn::GetAtt": ["Template", "LatestVersionNumber"]},
            },
            "Tags": [{"Key": "job", "Value": "llm", "PropagateAtLaunch": True}],
        },
        Template={"Type": "AWS::EC2::LaunchTemplate", "Properties": {"LaunchTemplateData": data}},
        Firewall={"Type": "AWS::EC2::SecurityGroup", "Properties": {"GroupDescription": "efa", "VpcId": vpc}},
        Role={"Type": "AWS::IAM::Role", "Properties": {"AssumeRolePolicyDocument": role}},
        Profile={"Type": "AWS::IAM::InstanceProfile", "Properties": {"Roles": [{"Ref": "Role"}]}},
    )
    instance = stack.group().instance(stack.group().only("InService"))
    [firewall] = instance["SecurityGroups"]
    assert (
        stack.ec2.describe_security_groups(GroupIds=[firewall["GroupId"]])["SecurityGroups"][0]["Description"] == "efa"
    )
    assert instance["InstanceLifecycle"] == "spot"
    assert instance["MetadataOptions"]["HttpTokens"] == "required"
    assert "Profile" in instance["IamInstanceProfile"]["Arn"]
    tags = {tag["Key"]: tag["Value"] for tag in instance["Tags"]}
    assert tags["job"] == "llm"
    assert tags["aws:autoscaling:groupName"] == stack.group().name
