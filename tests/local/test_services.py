"""What the local AWS adds to IAM, S3, CloudWatch, SNS, Auto Scaling and SSM, seen through boto3."""

from __future__ import annotations

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError

from gpu_constructs.local import LocalAws
from tests.local.conftest import StackUnderTest

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def test_a_role_has_its_managed_policies(a_stack: StackUnderTest) -> None:
    policy = "arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore"
    properties: dict[str, Any] = {"AssumeRolePolicyDocument": {"Statement": []}, "ManagedPolicyArns": [policy]}
    role = {"Type": "AWS::IAM::Role", "Properties": properties}
    iam = a_stack.aws.client("iam")

    a_stack.create({"Role": role})
    name = a_stack.physical_id("Role")
    (attached,) = iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"]
    assert attached["PolicyArn"] == policy

    del properties["ManagedPolicyArns"]
    a_stack.update({"Role": role})
    assert iam.list_attached_role_policies(RoleName=name)["AttachedPolicies"] == []


def test_a_bucket_has_what_the_template_says_of_it(a_stack: StackUnderTest) -> None:
    bucket = {
        "Type": "AWS::S3::Bucket",
        "Properties": {
            "VersioningConfiguration": {"Status": "Enabled"},
            "PublicAccessBlockConfiguration": dict.fromkeys(
                ["BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"], True
            ),
            "OwnershipControls": {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]},
            "LifecycleConfiguration": {
                "Rules": [
                    {"Id": "Abort", "Status": "Enabled", "AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}
                ]
            },
        },
    }

    a_stack.create({"Bucket": bucket})

    s3, name = a_stack.aws.client("s3"), a_stack.physical_id("Bucket")
    assert s3.get_bucket_versioning(Bucket=name)["Status"] == "Enabled"
    assert all(s3.get_public_access_block(Bucket=name)["PublicAccessBlockConfiguration"].values())
    (rule,) = s3.get_bucket_lifecycle_configuration(Bucket=name)["Rules"]
    assert rule["AbortIncompleteMultipartUpload"] == {"DaysAfterInitiation": 1}
    (owner,) = s3.get_bucket_ownership_controls(Bucket=name)["OwnershipControls"]["Rules"]
    assert owner["ObjectOwnership"] == "BucketOwnerEnforced"


def test_a_bucket_policy_that_asks_for_tls_does_not_close_the_bucket_on_loopback(a_stack: StackUnderTest) -> None:
    statement = {
        "Effect": "Deny",
        "Principal": "*",
        "Action": "s3:*",
        "Resource": "*",
        "Condition": {"Bool": {"aws:SecureTransport": "false"}},
    }
    policy = {
        "Type": "AWS::S3::BucketPolicy",
        "Properties": {"Bucket": {"Ref": "Bucket"}, "PolicyDocument": {"Statement": [statement]}},
    }

    a_stack.create({"Bucket": {"Type": "AWS::S3::Bucket"}, "Policy": policy})

    s3, name = a_stack.aws.client("s3"), a_stack.physical_id("Bucket")
    s3.put_object(Bucket=name, Key="a", Body=b"1")
    assert json.loads(s3.get_bucket_policy(Bucket=name)["Policy"]) == {"Statement": [statement]}


def test_a_bucket_policy_that_denies_outright_does(a_stack: StackUnderTest) -> None:
    statement = {"Effect": "Deny", "Principal": "*", "Action": "s3:PutObject", "Resource": "*"}
    policy = {
        "Type": "AWS::S3::BucketPolicy",
        "Properties": {"Bucket": {"Ref": "Bucket"}, "PolicyDocument": {"Statement": [statement]}},
    }
    a_stack.create({"Bucket": {"Type": "AWS::S3::Bucket"}, "Policy": policy})

    with pytest.raises(ClientError, match=r"Forbidden|AccessDenied"):
        a_stack.aws.client("s3").put_object(Bucket=a_stack.physical_id("Bucket"), Key="a", Body=b"1")


def test_an_alarm_of_a_stack(a_stack: StackUnderTest) -> None:
    alarm: dict[str, Any] = {
        "Type": "AWS::CloudWatch::Alarm",
        "Properties": {
            "Namespace": "CWAgent",
            "MetricName": "nvidia_smi_utilization_gpu",
            "Dimensions": [{"Name": "AutoScalingGroupName", "Value": "nodes"}],
            "Statistic": "Average",
            "Period": 60,
            "EvaluationPeriods": 3,
            "Threshold": 60,
            "ComparisonOperator": "GreaterThanThreshold",
            "TreatMissingData": "breaching",
        },
    }
    cloudwatch = a_stack.aws.client("cloudwatch")
    a_stack.create({"Alarm": alarm})
    name = a_stack.physical_id("Alarm")
    (found,) = cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]
    assert (found["Threshold"], found["TreatMissingData"]) == (60.0, "breaching")
    assert found["Dimensions"] == [{"Name": "AutoScalingGroupName", "Value": "nodes"}]

    alarm["Properties"]["Threshold"] = 80
    a_stack.update({"Alarm": alarm})
    (found,) = cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"]
    assert found["Threshold"] == 80.0

    a_stack.delete()
    assert cloudwatch.describe_alarms(AlarmNames=[name])["MetricAlarms"] == []


def test_alarms_on_metric_math_and_on_other_alarms(a_stack: StackUnderTest) -> None:
    metric = {"Namespace": "CWAgent", "MetricName": "x", "Dimensions": [{"Name": "n", "Value": "v"}]}
    resources = {
        "Math": {
            "Type": "AWS::CloudWatch::Alarm",
            "Properties": {
                "Metrics": [
                    {"Id": "a", "MetricStat": {"Metric": metric, "Period": 60, "Stat": "Sum"}, "ReturnData": False},
                    {"Id": "b", "Expression": "a / 2"},
                ],
                "EvaluationPeriods": 1,
                "Threshold": 1,
                "ComparisonOperator": "GreaterThanThreshold",
            },
        },
        "Both": {
            "Type": "AWS::CloudWatch::CompositeAlarm",
            "Properties": {"AlarmRule": {"Fn::Sub": 'ALARM("${Math.Arn}")'}},
        },
    }

    assert a_stack.create(resources)["StackStatus"] == "CREATE_COMPLETE"

    alarms = a_stack.aws.client("cloudwatch").describe_alarms(
        AlarmNames=[a_stack.physical_id("Math"), a_stack.physical_id("Both")],
        AlarmTypes=["MetricAlarm", "CompositeAlarm"],
    )
    assert [q["Id"] for q in alarms["MetricAlarms"][0]["Metrics"]] == ["a", "b"]
    assert alarms["CompositeAlarms"][0]["AlarmRule"].startswith('ALARM("arn:aws:cloudwatch')


def test_a_topic_has_the_policy_of_the_template_while_it_is_there(a_stack: StackUnderTest) -> None:
    document = {"Statement": [{"Effect": "Deny", "Principal": "*", "Action": "sns:Publish", "Resource": "*"}]}
    topic = {"Topic": {"Type": "AWS::SNS::Topic"}}
    policy = {
        "Type": "AWS::SNS::TopicPolicy",
        "Properties": {"Topics": [{"Ref": "Topic"}], "PolicyDocument": document},
    }

    a_stack.create({**topic, "Policy": policy})
    sns, arn = a_stack.aws.client("sns"), a_stack.physical_id("Topic")
    assert json.loads(sns.get_topic_attributes(TopicArn=arn)["Attributes"]["Policy"]) == document

    a_stack.update(topic)
    assert json.loads(sns.get_topic_attributes(TopicArn=arn)["Attributes"]["Policy"]) != document


def test_a_scheduled_action_is_there_by_its_name(a_stack: StackUnderTest) -> None:
    template = {"LaunchTemplateData": {"ImageId": "ami-12c6146b", "InstanceType": "g5.xlarge"}}
    group = {
        "MinSize": 0,
        "MaxSize": 2,
        "AvailabilityZones": ["us-east-1a"],
        "LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"},
    }
    action = {"AutoScalingGroupName": {"Ref": "Group"}, "DesiredCapacity": 2, "StartTime": "2027-01-01T00:00:00Z"}

    stack = a_stack.create(
        {
            "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": template},
            "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": group},
            "Action": {"Type": "AWS::AutoScaling::ScheduledAction", "Properties": action},
        }
    )

    assert stack["StackStatus"] == "CREATE_COMPLETE"
    names = [a_stack.physical_id("Action")]
    scaling = a_stack.aws.client("autoscaling")
    (found,) = scaling.describe_scheduled_actions(
        AutoScalingGroupName=a_stack.physical_id("Group"), ScheduledActionNames=names
    )["ScheduledUpdateGroupActions"]
    assert found["DesiredCapacity"] == 2
    assert a_stack.delete() == "DELETE_COMPLETE"


def test_the_deep_learning_amis_have_their_public_parameters_in_every_region(local_aws: LocalAws) -> None:
    name = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id"

    for region in ("us-east-1", "eu-west-1"):
        value = local_aws.client("ssm", region).get_parameter(Name=name)["Parameter"]["Value"]
        assert value.startswith("ami-")
    with pytest.raises(ClientError, match="ParameterNotFound"):
        local_aws.client("ssm").get_parameter(Name=name.replace("2023", "1999"))


def test_an_operation_that_is_missing_is_a_client_error_that_names_it(local_aws: LocalAws) -> None:
    with pytest.raises(ClientError, match="the local AWS cannot do this: The start_instance_refresh action"):
        local_aws.client("autoscaling").start_instance_refresh(AutoScalingGroupName="nodes")
