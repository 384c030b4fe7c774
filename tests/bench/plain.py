"""The resources of a default TrainingCluster in plain aws-cdk-lib: what its synthesis is measured against.

It is written as well as we can, and tests/training/test_beside_plain.py shows that its template is the same.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, cast

from aws_cdk import Annotations, Duration, RemovalPolicy, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk.aws_s3_assets import Asset
from constructs import Construct

from gpu_constructs.bundle import user_data
from gpu_constructs.node_group import standalone
from gpu_constructs.on_node import permissions

BUCKET_ACTIONS = ["s3:GetBucketLocation", "s3:ListBucket", "s3:ListBucketMultipartUploads"]
OBJECT_ACTIONS = [
    "s3:AbortMultipartUpload",
    "s3:DeleteObject",
    "s3:GetObject",
    "s3:ListMultipartUploadParts",
    "s3:PutObject",
]
HARDWARE = {
    "p4d.24xlarge": {
        "driver": "580",
        "efa_interfaces": 4,
        "gpu": "A100",
        "gpus": 8,
        "local_nvme_disks": 8,
        "nvswitch": True,
        "open_modules": True,
    }
}


class PlainCluster(Construct):
    """Two p4d.24xlarge, a scratch file system and a checkpoint bucket in a VPC of their own."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        self._bundle = standalone.bundle()
        vpc = self._vpc()
        subnet = vpc.private_subnets[0]
        nodes = self._security_group(vpc)
        role, bucket = self._role(), self._bucket()
        servers = ec2.SecurityGroup(
            self, "Servers", vpc=vpc, description="Lustre file system and its clients", allow_all_outbound=False
        )
        ports = [ec2.Port.tcp(988), ec2.Port.tcp_range(1018, 1023)]
        connections = servers.connections
        for port in ports:
            connections.allow_internally(port, "Lustre between file servers")
        file_system = self._file_system(subnet, servers)
        log_group = logs.LogGroup(
            self, "Log", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
        )
        bundle = Asset(self, "Bundle", path=str(self._bundle.path))
        commands = self._user_data(bundle, file_system, bucket, log_group)
        group = self._group(vpc, subnet, self._template(nodes, role, commands))
        self._allow(role, bundle, bucket, log_group, group)
        self._alarm(group)
        for port in ports:
            connections.allow_from(nodes, port, "Lustre from clients")
            connections.allow_to(nodes, port, "Lustre to clients")
        group.node.add_dependency(file_system, servers, subnet.internet_connectivity_established)

    def _vpc(self) -> ec2.Vpc:
        return ec2.Vpc(
            self,
            "Vpc",
            max_azs=1,
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

    def _security_group(self, vpc: ec2.Vpc) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(self, "NodeGroup", vpc=vpc, description="GPU nodes", allow_all_outbound=False)
        group.connections.allow_internally(ec2.Port.all_traffic(), "EFA and all other traffic between nodes")
        anywhere = ec2.CfnSecurityGroupEgress(
            group,
            "Anywhere",
            group_id=group.security_group_id,
            ip_protocol="-1",
            cidr_ip="0.0.0.0/0",
            description="AWS APIs and the internet",
        )
        for rule in group.node.children:
            if isinstance(rule, ec2.CfnSecurityGroupEgress) and rule is not anywhere:
                anywhere.add_resource_dependency(rule)
        return group

    def _role(self) -> iam.Role:
        return iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            description="GPU nodes",
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name("AmazonSSMManagedInstanceCore")],
        )

    def _user_data(
        self, bundle: Asset, file_system: fsx.CfnFileSystem, bucket: s3.Bucket, log_group: logs.LogGroup
    ) -> str:
        stack = Stack.of(self)
        config = {
            "data_volume": False,
            "hardware": {},
            "install_cuda": False,
            "launch_hook": "gpu-node-ready",
            "launch_hook_seconds": 600,
            "log_group": log_group.log_group_name,
            "lustre": {
                "dns_name": f"{file_system.ref}.fsx.{stack.region}.{stack.url_suffix}",
                "mount_name": file_system.attr_lustre_mount_name,
                "path": "/fsx",
            },
            "record_bucket": bucket.bucket_name,
            "record_prefix": "gpu-node/",
        }
        text = json.dumps(config, indent=1, sort_keys=True)
        return user_data.render(
            bucket=bundle.s3_bucket_name,
            key=bundle.s3_object_key,
            sha256=self._bundle.sha256,
            region=stack.region,
            config_json=text.replace('"hardware": {}', f'"hardware": {json.dumps(HARDWARE, sort_keys=True)}'),
        )

    def _template(self, nodes: ec2.SecurityGroup, role: iam.Role, commands: str) -> ec2.LaunchTemplate:
        template = ec2.LaunchTemplate(
            self,
            "LaunchTemplate",
            instance_type=ec2.InstanceType("p4d.24xlarge"),
            machine_image=ec2.MachineImage.from_ssm_parameter(
                "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id"
            ),
            role=role,
            security_group=nodes,
            placement_group=ec2.PlacementGroup(self, "Placement", strategy=ec2.PlacementGroupStrategy.CLUSTER),
            require_imdsv2=True,
            http_endpoint=True,
            http_put_response_hop_limit=2,
            block_devices=[
                ec2.BlockDevice(
                    device_name="/dev/xvda",
                    volume=ec2.BlockDeviceVolume.ebs(200, encrypted=True, volume_type=ec2.EbsDeviceVolumeType.GP3),
                )
            ],
            user_data=ec2.UserData.custom(commands),
        )
        cards = [(0, 0, None), (0, 1, "efa-only"), *((card, 0, "efa-only") for card in (1, 2, 3))]
        group_id = nodes.security_group_id
        resource = cast("ec2.CfnLaunchTemplate", template.node.default_child)
        resource.add_property_deletion_override("LaunchTemplateData.SecurityGroupIds")
        resource.add_property_override(
            "LaunchTemplateData.NetworkInterfaces",
            [
                {
                    "NetworkCardIndex": card,
                    "DeviceIndex": device,
                    "Groups": [group_id],
                    "DeleteOnTermination": True,
                    **({"InterfaceType": kind} if kind else {"AssociatePublicIpAddress": False}),
                }
                for card, device, kind in cards
            ],
        )
        return template

    def _group(self, vpc: ec2.Vpc, subnet: ec2.ISubnet, template: ec2.LaunchTemplate) -> autoscaling.AutoScalingGroup:
        group = autoscaling.AutoScalingGroup(
            self,
            "Nodes",
            vpc=vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=[subnet]),
            launch_template=template,
            min_capacity=0,
            max_capacity=3,
            desired_capacity=2,
            health_checks=autoscaling.HealthChecks.ec2(grace_period=Duration.minutes(10)),
            ignore_unmodified_size_properties=True,
        )
        Annotations.of(group).acknowledge_warning("@aws-cdk/aws-autoscaling:desiredCapacitySet")
        resource = cast("autoscaling.CfnAutoScalingGroup", group.node.default_child)
        resource.lifecycle_hook_specification_list = [
            autoscaling.CfnAutoScalingGroup.LifecycleHookSpecificationProperty(
                lifecycle_hook_name="gpu-node-ready",
                lifecycle_transition="autoscaling:EC2_INSTANCE_LAUNCHING",
                heartbeat_timeout=600,
                default_result="ABANDON",
            )
        ]
        return group

    def _alarm(self, group: autoscaling.AutoScalingGroup) -> None:
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

    def _bucket(self) -> s3.Bucket:
        return s3.Bucket(
            self,
            "Checkpoints",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[
                s3.LifecycleRule(id="AbortIncompleteUploads", abort_incomplete_multipart_upload_after=Duration.days(1))
            ],
            removal_policy=RemovalPolicy.RETAIN,
        )

    def _allow(
        self,
        role: iam.Role,
        bundle: Asset,
        bucket: s3.Bucket,
        log_group: logs.LogGroup,
        group: autoscaling.AutoScalingGroup,
    ) -> None:
        arn, stack = bucket.bucket_arn, Stack.of(self)
        resource = cast("autoscaling.CfnAutoScalingGroup", group.node.default_child)
        name = f"{stack.stack_name}-{stack.get_logical_id(resource)}-*"
        groups = f"arn:{stack.partition}:autoscaling:{stack.region}:{stack.account}:autoScalingGroup:*"
        metrics = {"conditions": permissions.METRIC_CONDITION}
        grants: list[tuple[Sequence[str], str, dict[str, Any]]] = [
            (["s3:GetObject"], bundle.bucket.arn_for_objects(bundle.s3_object_key), {}),
            (permissions.LOG_ACTIONS, log_group.log_group_arn, {}),
            (permissions.DESCRIBE_ACTIONS, "*", {}),
            (permissions.METRIC_ACTIONS, "*", metrics),
            (permissions.RECORD_ACTIONS, f"{arn}/gpu-node/control/boot-failures/*", {}),
            (permissions.GROUP_ACTIONS, f"{groups}:autoScalingGroupName/{name}", {}),
            (BUCKET_ACTIONS, arn, {}),
            (OBJECT_ACTIONS, f"{arn}/*", {}),
        ]
        for actions, where, more in grants:
            iam.Grant.add_to_principal(grantee=role, actions=list(actions), resource_arns=[where], **more)

    def _file_system(self, subnet: ec2.ISubnet, servers: ec2.SecurityGroup) -> fsx.CfnFileSystem:
        file_system = fsx.CfnFileSystem(
            self,
            "FileSystem",
            file_system_type="LUSTRE",
            file_system_type_version="2.15",
            storage_type="SSD",
            storage_capacity=1200,
            subnet_ids=[subnet.subnet_id],
            security_group_ids=[servers.security_group_id],
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type="SCRATCH_2", data_compression_type="LZ4"
            ),
        )
        file_system.apply_removal_policy(RemovalPolicy.DESTROY)
        rules = (ec2.CfnSecurityGroupIngress, ec2.CfnSecurityGroupEgress)
        file_system.node.add_dependency(*(child for child in servers.node.children if isinstance(child, rules)))
        return file_system
