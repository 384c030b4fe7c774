"""The resources of a default TrainingCluster in plain aws-cdk-lib: what its synthesis is measured against."""

from __future__ import annotations

from typing import cast

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

PORTS = (ec2.Port.tcp(988), ec2.Port.tcp_range(1018, 1023))


class PlainCluster(Construct):
    """Two p4d.24xlarge, a scratch file system and a checkpoint bucket in a VPC of their own."""

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        vpc = self._vpc()
        nodes = self._security_group("NodeGroup", vpc)
        servers = ec2.SecurityGroup(self, "Servers", vpc=vpc, allow_all_outbound=False)
        for port in PORTS:
            servers.connections.allow_internally(port)
            servers.connections.allow_from(nodes, port)
            servers.connections.allow_to(nodes, port)
        file_system = fsx.CfnFileSystem(
            self,
            "FileSystem",
            file_system_type="LUSTRE",
            file_system_type_version="2.15",
            storage_type="SSD",
            storage_capacity=1200,
            subnet_ids=[vpc.private_subnets[0].subnet_id],
            security_group_ids=[servers.security_group_id],
            lustre_configuration=fsx.CfnFileSystem.LustreConfigurationProperty(
                deployment_type="SCRATCH_2", data_compression_type="LZ4"
            ),
        )
        file_system.apply_removal_policy(RemovalPolicy.DESTROY)
        role = self._role(self._bucket())
        self._group(vpc, self._template(nodes, role)).node.add_dependency(file_system)

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

    def _security_group(self, id: str, vpc: ec2.Vpc) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(self, id, vpc=vpc, allow_all_outbound=False)
        group.connections.allow_internally(ec2.Port.all_traffic())
        ec2.CfnSecurityGroupEgress(
            group, "Anywhere", group_id=group.security_group_id, ip_protocol="-1", cidr_ip="0.0.0.0/0"
        )
        return group

    def _bucket(self) -> s3.Bucket:
        return s3.Bucket(
            self,
            "Checkpoints",
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            encryption=s3.BucketEncryption.S3_MANAGED,
            enforce_ssl=True,
            minimum_tls_version=1.2,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            lifecycle_rules=[s3.LifecycleRule(abort_incomplete_multipart_upload_after=Duration.days(1))],
            removal_policy=RemovalPolicy.RETAIN,
        )

    def _role(self, bucket: s3.Bucket) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name("AmazonSSMManagedInstanceCore")],
        )
        bucket.grant_read_write(role)
        return role

    def _template(self, nodes: ec2.SecurityGroup, role: iam.Role) -> ec2.LaunchTemplate:
        template = ec2.LaunchTemplate(
            self,
            "Template",
            instance_type=ec2.InstanceType("p4d.24xlarge"),
            machine_image=ec2.MachineImage.from_ssm_parameter(
                "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id"
            ),
            role=role,
            security_group=nodes,
            placement_group=ec2.PlacementGroup(self, "Placement", strategy=ec2.PlacementGroupStrategy.CLUSTER),
            require_imdsv2=True,
            http_put_response_hop_limit=2,
            block_devices=[
                ec2.BlockDevice(
                    device_name="/dev/xvda",
                    volume=ec2.BlockDeviceVolume.ebs(200, encrypted=True, volume_type=ec2.EbsDeviceVolumeType.GP3),
                )
            ],
            user_data=ec2.UserData.for_linux(),
        )
        cards = [(0, 0, None), (0, 1, "efa-only"), *((card, 0, "efa-only") for card in (1, 2, 3))]
        resource = cast("ec2.CfnLaunchTemplate", template.node.default_child)
        resource.add_property_deletion_override("LaunchTemplateData.SecurityGroupIds")
        resource.add_property_override(
            "LaunchTemplateData.NetworkInterfaces",
            [
                {
                    "NetworkCardIndex": card,
                    "DeviceIndex": device,
                    "Groups": [nodes.security_group_id],
                    "DeleteOnTermination": True,
                    **({"InterfaceType": kind} if kind else {}),
                }
                for card, device, kind in cards
            ],
        )
        return template

    def _group(self, vpc: ec2.Vpc, template: ec2.LaunchTemplate) -> autoscaling.AutoScalingGroup:
        return autoscaling.AutoScalingGroup(
            self,
            "Nodes",
            vpc=vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=[vpc.private_subnets[0]]),
            launch_template=template,
            min_capacity=0,
            max_capacity=3,
            desired_capacity=2,
        )
