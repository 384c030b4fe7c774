"""The resources of an InferenceTier in plain aws-cdk-lib: what its synthesis is measured against.

It is written as well as we can, and tests/inference/test_beside_plain.py shows that its template is the same.
"""

from __future__ import annotations

from typing import Any

from aws_cdk import (
    CfnAutoScalingRollingUpdate,
    CfnAutoScalingScheduledAction,
    CfnCreationPolicy,
    CfnResourceSignal,
    CfnUpdatePolicy,
    Duration,
    Lazy,
    Stack,
)
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from aws_cdk import aws_s3 as s3
from aws_cdk.aws_s3_assets import Asset
from constructs import Construct

from gpu_constructs.inference import policies
from gpu_constructs.inference.node_side import GroupId
from gpu_constructs.node_group import standalone
from gpu_constructs.on_node import permissions
from tests.bench import plain_parts as parts

IMAGE = "nvcr.io/nvidia/tritonserver:26.05-py3"
HARDWARE = {
    "g5.xlarge": {
        "driver": "580",
        "efa_interfaces": 0,
        "gpu": "A10G",
        "gpus": 1,
        "local_nvme_disks": 1,
        "nvswitch": False,
        "open_modules": True,
    }
}
SERVING: dict[str, Any] = {
    "command": ["tritonserver", "--model-repository=/models", "--exit-timeout-secs=50"],
    "credentials_secret": None,
    "environment": {},
    "gpus": True,
    "image": IMAGE,
    "model_bucket": None,
    "model_path": "/models",
    "model_prefix": "",
    "ports": [8000, 8002],
    "ready_path": "/v2/health/ready",
    "ready_pattern": "",
    "ready_port": 8000,
    "ready_seconds": 660,
    "shm_size_gib": 1,
    "stop_timeout_seconds": 60,
    "warm_up_body": "",
    "warm_up_path": None,
}
SUSPENDED = ["HealthCheck", "ReplaceUnhealthy", "AZRebalance", "AlarmNotification", "ScheduledActions"]
DIMENSION = "AutoScalingGroupName"
NAMESPACE, METRIC = "CWAgent", "nvidia_smi_utilization_gpu"


class PlainTier(Construct):
    """One to four g5.xlarge with Triton behind an internal load balancer, in a VPC of their own."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        built, group_id = standalone.bundle(), GroupId()
        vpc = parts.vpc(self, zones=2)
        expire = s3.LifecycleRule(id="ExpireAccessLogs", prefix="access-logs/", expiration=Duration.days(90))
        bucket = parts.bucket(self, "Bucket", expire)
        role, log_group = parts.role(self), parts.log_group(self)
        nodes = ec2.SecurityGroup(self, "NodeGroup", vpc=vpc, description="GPU nodes")
        nodes.add_ingress_rule(nodes, ec2.Port.all_traffic(), "all traffic between nodes")
        bundle = Asset(self, "Bundle", path=str(built.path))
        config = {
            "data_volume": False,
            "install_cuda": False,
            "launch_hook": "gpu-node-ready",
            "launch_hook_seconds": 600,
            "log_group": log_group.log_group_name,
            "lustre": None,
            "record_bucket": bucket.bucket_name,
            "record_prefix": "gpu-node/",
            "serving": {
                **SERVING,
                "signal_resource": Lazy.string(group_id),
                "signal_stack": Stack.of(self).stack_name,
            },
        }
        commands = parts.commands(self, built, bundle, HARDWARE, config)
        template = self._template(nodes, role, commands)
        group = group_id.group = self._group(vpc, template)
        parts.allow(role, parts.boot_grants(bundle, bucket, log_group))
        parts.allow(role, [(permissions.SIGNAL_ACTIONS, Stack.of(self).stack_id, {})])
        parts.allow(role, parts.group_grants(group))
        parts.suspended_alarm(group)
        self._front(vpc, group)
        self._scaling(group)

    def _template(self, nodes: ec2.SecurityGroup, role: Any, commands: str) -> ec2.LaunchTemplate:
        template = parts.launch_template(
            self, "g5.xlarge", nodes, role, commands, block_devices=parts.root_volume(throughput=500)
        )
        interface = {
            "NetworkCardIndex": 0,
            "DeviceIndex": 0,
            "Groups": [nodes.security_group_id],
            "DeleteOnTermination": True,
        }
        parts.set_interfaces(template, [interface])
        return template

    def _group(self, vpc: ec2.Vpc, template: ec2.LaunchTemplate) -> autoscaling.AutoScalingGroup:
        subnets = vpc.private_subnets
        group = autoscaling.AutoScalingGroup(
            self,
            "Nodes",
            vpc=vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=subnets),
            launch_template=template,
            min_capacity=1,
            max_capacity=4,
            health_checks=autoscaling.HealthChecks.ec2(grace_period=Duration.minutes(2)),
            group_metrics=[autoscaling.GroupMetrics.all()],
            default_instance_warmup=Duration.minutes(1),
        )
        group.node.add_dependency(*(subnet.internet_connectivity_established for subnet in subnets))
        resource = parts.set_hook(group)
        resource.cfn_options.creation_policy = CfnCreationPolicy(
            resource_signal=CfnResourceSignal(count=1, timeout="PT26M")
        )
        resource.cfn_options.update_policy = CfnUpdatePolicy(
            auto_scaling_scheduled_action=CfnAutoScalingScheduledAction(ignore_unmodified_group_size_properties=True),
            auto_scaling_rolling_update=CfnAutoScalingRollingUpdate(
                min_instances_in_service=1,
                max_batch_size=1,
                pause_time="PT26M",
                wait_on_resource_signals=True,
                suspend_processes=SUSPENDED,
            ),
        )
        return group

    def _front(self, vpc: ec2.Vpc, group: autoscaling.AutoScalingGroup) -> None:
        balancer = elbv2.ApplicationLoadBalancer(
            self,
            "LoadBalancer",
            vpc=vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=vpc.private_subnets),
            security_group=ec2.SecurityGroup(
                self,
                "LoadBalancerGroup",
                vpc=vpc,
                description="Load balancer of model servers",
                allow_all_outbound=False,
            ),
            idle_timeout=Duration.minutes(1),
            drop_invalid_header_fields=True,
        )
        targets = elbv2.ApplicationTargetGroup(
            self,
            "Targets",
            vpc=vpc,
            port=8000,
            protocol=elbv2.ApplicationProtocol.HTTP,
            protocol_version=elbv2.ApplicationProtocolVersion.HTTP1,
            targets=[group],
            health_check=elbv2.HealthCheck(
                path="/v2/health/ready",
                healthy_http_codes="200",
                interval=Duration.seconds(15),
                timeout=Duration.seconds(10),
                healthy_threshold_count=2,
                unhealthy_threshold_count=3,
            ),
            deregistration_delay=Duration.minutes(1),
            load_balancing_algorithm_type=elbv2.TargetGroupLoadBalancingAlgorithmType.ROUND_ROBIN,
        )
        balancer.add_listener(
            "Http",
            port=80,
            protocol=elbv2.ApplicationProtocol.HTTP,
            open=False,
            default_action=elbv2.ListenerAction.forward([targets]),
        )

    def _scaling(self, group: autoscaling.AutoScalingGroup) -> None:
        policy = autoscaling.CfnScalingPolicy
        name = group.auto_scaling_group_name
        autoscaling.CfnScalingPolicy(
            self,
            "Scaling",
            auto_scaling_group_name=name,
            policy_type="TargetTrackingScaling",
            target_tracking_configuration=policy.TargetTrackingConfigurationProperty(
                target_value=60,
                customized_metric_specification=policy.CustomizedMetricSpecificationProperty(
                    namespace=NAMESPACE,
                    metric_name=METRIC,
                    statistic="Average",
                    dimensions=[policy.MetricDimensionProperty(name=DIMENSION, value=name)],
                ),
            ),
        )
        cloudwatch.Alarm(
            self,
            "Missing",
            alarm_description=policies.ALARM_DESCRIPTION,
            metric=cloudwatch.Metric(
                namespace=NAMESPACE,
                metric_name=METRIC,
                dimensions_map={DIMENSION: name},
                statistic="SampleCount",
                period=Duration.minutes(5),
            ),
            threshold=1,
            comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
            evaluation_periods=3,
            treat_missing_data=cloudwatch.TreatMissingData.BREACHING,
        )
