"""The resources of a default TrainingCluster in plain aws-cdk-lib: what its synthesis is measured against.

It is written as well as we can, and tests/training/test_beside_plain.py shows that its template is the same.
"""

from __future__ import annotations

from typing import Any

from aws_cdk import Annotations, Duration, RemovalPolicy, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk.aws_s3_assets import Asset
from constructs import Construct

from gpu_constructs.node_group import standalone
from tests.bench import plain_parts as parts

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
        built = standalone.bundle()
        vpc = parts.vpc(self, zones=1)
        subnet = vpc.private_subnets[0]
        nodes = self._security_group(vpc)
        role, bucket = parts.role(self), self._bucket()
        servers = ec2.SecurityGroup(
            self, "Servers", vpc=vpc, description="Lustre file system and its clients", allow_all_outbound=False
        )
        ports = [ec2.Port.tcp(988), ec2.Port.tcp_range(1018, 1023)]
        connections = servers.connections
        for port in ports:
            connections.allow_internally(port, "Lustre between file servers")
        file_system = self._file_system(subnet, servers)
        log_group = parts.log_group(self)
        bundle = Asset(self, "Bundle", path=str(built.path))
        config = self._config(file_system, bucket, log_group)
        template = parts.launch_template(
            self,
            "p4d.24xlarge",
            nodes,
            role,
            parts.commands(self, built, bundle, HARDWARE, config),
            placement_group=ec2.PlacementGroup(self, "Placement", strategy=ec2.PlacementGroupStrategy.CLUSTER),
            block_devices=parts.root_volume(),
        )
        self._set_interfaces(template, nodes)
        group = self._group(vpc, subnet, template)
        parts.allow(role, [*parts.boot_grants(bundle, bucket, log_group), *parts.group_grants(group)])
        arn = bucket.bucket_arn
        parts.allow(role, [(BUCKET_ACTIONS, arn, {}), (OBJECT_ACTIONS, f"{arn}/*", {})])
        parts.suspended_alarm(group)
        for port in ports:
            connections.allow_from(nodes, port, "Lustre from clients")
            connections.allow_to(nodes, port, "Lustre to clients")
        group.node.add_dependency(file_system, servers, subnet.internet_connectivity_established)

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

    def _config(self, file_system: fsx.CfnFileSystem, bucket: s3.Bucket, log_group: logs.LogGroup) -> dict[str, Any]:
        stack = Stack.of(self)
        return {
            "data_volume": False,
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

    def _set_interfaces(self, template: ec2.LaunchTemplate, nodes: ec2.SecurityGroup) -> None:
        cards = [(0, 0, None), (0, 1, "efa-only"), *((card, 0, "efa-only") for card in (1, 2, 3))]
        group_id = nodes.security_group_id
        interfaces = [
            {
                "NetworkCardIndex": card,
                "DeviceIndex": device,
                "Groups": [group_id],
                "DeleteOnTermination": True,
                **({"InterfaceType": kind} if kind else {"AssociatePublicIpAddress": False}),
            }
            for card, device, kind in cards
        ]
        parts.set_interfaces(template, interfaces)

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
        parts.set_hook(group)
        return group

    def _bucket(self) -> s3.Bucket:
        aborted = s3.LifecycleRule(
            id="AbortIncompleteUploads", abort_incomplete_multipart_upload_after=Duration.days(1)
        )
        return parts.bucket(self, "Checkpoints", aborted)

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
