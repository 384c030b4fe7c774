"""What a cluster and a tier have in common, in plain aws-cdk-lib."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from aws_cdk import Duration, RemovalPolicy, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk.aws_s3_assets import Asset
from constructs import Construct

from gpu_constructs.bundle import user_data
from gpu_constructs.bundle.builder import Bundle
from gpu_constructs.node_group import standalone
from gpu_constructs.on_node import permissions

Grants = Sequence[tuple[Sequence[str], str, dict[str, Any]]]
_AMI = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id"


def vpc(scope: Construct, zones: int) -> ec2.Vpc:
    return ec2.Vpc(
        scope,
        "Vpc",
        max_azs=zones,
        nat_gateways=1,
        restrict_default_security_group=True,
        subnet_configuration=[
            ec2.SubnetConfiguration(
                name="Public", subnet_type=ec2.SubnetType.PUBLIC, cidr_mask=24, map_public_ip_on_launch=False
            ),
            ec2.SubnetConfiguration(name="Private", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS),
        ],
        gateway_endpoints={"S3": ec2.GatewayVpcEndpointOptions(service=ec2.GatewayVpcEndpointAwsService.S3)},
    )


def role(scope: Construct) -> iam.Role:
    return iam.Role(
        scope,
        "Role",
        assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
        description="GPU nodes",
        managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name("AmazonSSMManagedInstanceCore")],
    )


def log_group(scope: Construct) -> logs.LogGroup:
    return logs.LogGroup(scope, "Log", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY)


def bucket(scope: Construct, id: str, *rules: s3.LifecycleRule) -> s3.Bucket:
    return s3.Bucket(
        scope,
        id,
        block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
        encryption=s3.BucketEncryption.S3_MANAGED,
        enforce_ssl=True,
        minimum_tls_version=1.2,
        object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
        lifecycle_rules=list(rules),
        removal_policy=RemovalPolicy.RETAIN,
    )


def commands(scope: Construct, built: Bundle, bundle: Asset, hardware: dict[str, Any], config: dict[str, Any]) -> str:
    """The user data. What only the deployment knows is a part of the text, so the hardware is put in afterwards."""
    text = json.dumps({**config, "hardware": {}}, indent=1, sort_keys=True)
    return user_data.render(
        bucket=bundle.s3_bucket_name,
        key=bundle.s3_object_key,
        sha256=built.sha256,
        region=Stack.of(scope).region,
        config_json=text.replace('"hardware": {}', f'"hardware": {json.dumps(hardware, sort_keys=True)}'),
    )


def launch_template(
    scope: Construct, instance_type: str, nodes: ec2.SecurityGroup, role: iam.Role, commands: str, **more: Any
) -> ec2.LaunchTemplate:
    return ec2.LaunchTemplate(
        scope,
        "LaunchTemplate",
        instance_type=ec2.InstanceType(instance_type),
        machine_image=ec2.MachineImage.from_ssm_parameter(_AMI),
        role=role,
        security_group=nodes,
        require_imdsv2=True,
        http_endpoint=True,
        http_put_response_hop_limit=2,
        user_data=ec2.UserData.custom(commands),
        **more,
    )


def root_volume(throughput: int | None = None) -> list[ec2.BlockDevice]:
    volume = ec2.BlockDeviceVolume.ebs(
        200, encrypted=True, volume_type=ec2.EbsDeviceVolumeType.GP3, throughput=throughput
    )
    return [ec2.BlockDevice(device_name="/dev/xvda", volume=volume)]


def set_interfaces(template: ec2.LaunchTemplate, interfaces: list[dict[str, Any]]) -> None:
    resource = cast("ec2.CfnLaunchTemplate", template.node.default_child)
    resource.add_property_deletion_override("LaunchTemplateData.SecurityGroupIds")
    resource.add_property_override("LaunchTemplateData.NetworkInterfaces", interfaces)


def set_hook(group: autoscaling.AutoScalingGroup) -> autoscaling.CfnAutoScalingGroup:
    resource = cast("autoscaling.CfnAutoScalingGroup", group.node.default_child)
    resource.lifecycle_hook_specification_list = [
        autoscaling.CfnAutoScalingGroup.LifecycleHookSpecificationProperty(
            lifecycle_hook_name="gpu-node-ready",
            lifecycle_transition="autoscaling:EC2_INSTANCE_LAUNCHING",
            heartbeat_timeout=600,
            default_result="ABANDON",
        )
    ]
    return resource


def suspended_alarm(group: autoscaling.AutoScalingGroup) -> None:
    cloudwatch.Alarm(
        group,
        "LaunchesSuspended",
        alarm_description=standalone.ALARM_DESCRIPTION,
        metric=cloudwatch.Metric(
            namespace="GpuConstructs",
            metric_name="LaunchesSuspended",
            dimensions_map={"AutoScalingGroupName": group.auto_scaling_group_name},
            statistic="Maximum",
            period=Duration.minutes(5),
        ),
        threshold=1,
        comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
        evaluation_periods=1,
        treat_missing_data=cloudwatch.TreatMissingData.IGNORE,
    )


def boot_grants(bundle: Asset, records: s3.Bucket, log: logs.LogGroup) -> Grants:
    return [
        (["s3:GetObject"], bundle.bucket.arn_for_objects(bundle.s3_object_key), {}),
        (permissions.LOG_ACTIONS, log.log_group_arn, {}),
        (permissions.DESCRIBE_ACTIONS, "*", {}),
        (permissions.METRIC_ACTIONS, "*", {"conditions": permissions.METRIC_CONDITION}),
        (permissions.RECORD_ACTIONS, f"{records.bucket_arn}/gpu-node/control/boot-failures/*", {}),
    ]


def group_grants(group: autoscaling.AutoScalingGroup) -> Grants:
    stack = Stack.of(group)
    resource = cast("autoscaling.CfnAutoScalingGroup", group.node.default_child)
    name = f"{stack.stack_name}-{stack.get_logical_id(resource)}-*"
    groups = f"arn:{stack.partition}:autoscaling:{stack.region}:{stack.account}:autoScalingGroup:*"
    return [(permissions.GROUP_ACTIONS, f"{groups}:autoScalingGroupName/{name}", {})]


def allow(role: iam.Role, grants: Grants) -> None:
    for actions, where, more in grants:
        iam.Grant.add_to_principal(grantee=role, actions=list(actions), resource_arns=[where], **more)
