"""A training cluster in a VPC and on a Lustre file system that exist already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from aws_cdk import Acknowledgment, CfnOutput, Environment, Stack, Validations
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from gpu_constructs import LustreStorage, TrainingCluster, Volume

# What cdk-nag finds, and why it stays as it is here. A library that acknowledged findings by itself would hide them.
ACKNOWLEDGED: Final = {
    "AwsSolutions-AS3": "nobody is to be notified of each node in this example",
    "AwsSolutions-S1": "access logs of the checkpoint bucket would need a second bucket; only the nodes use it",
    "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AmazonSSMManagedInstanceCore]": (
        "the policy that AWS maintains for nodes managed by Systems Manager"
    ),
    "AwsSolutions-IAM5[Resource::<ClusterCheckpoints9B83C16A.Arn>/*]": (
        "the bucket is there for checkpoints alone, and which objects there will be is known only to the job"
    ),
    "AwsSolutions-IAM5[Resource::*]": (
        "listing the groups of instances, their tags, and publishing metrics take no resource"
    ),
    "AwsSolutions-IAM5[Resource::<ClusterCheckpoints9B83C16A.Arn>/gpu-node/control/boot-failures/*]": (
        "the record of boots that failed is named after the group, whose name only the deployment knows"
    ),
    (
        "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:autoscaling:<AWS::Region>:<AWS::AccountId>"
        ":autoScalingGroup:*:autoScalingGroupName/ImportedStack-ClusterNodesASG2FE6C426-*]"
    ): ("nodes complete the hooks of their own group, whose name CloudFormation ends as it likes"),
}


@dataclass(frozen=True, kw_only=True)
class Existing:
    """What exists already; the README says how to look each of them up.

    Args:
        vpc_id: The VPC.
        subnet_id: A private subnet of it, the one of the file system, with a way out (a NAT gateway).
        availability_zone: The zone of the subnet.
        route_table_id: The route table of the subnet.
        file_system_id: The Lustre file system.
        mount_name: The name under which it is mounted.
        security_group_id: The security group of the file system.
    """

    vpc_id: str
    subnet_id: str
    availability_zone: str
    route_table_id: str
    file_system_id: str
    mount_name: str
    security_group_id: str


class ImportedStack(Stack):
    """Two g5.12xlarge nodes beside a VPC and a file system that exist, and are left as they are but for rules.

    Args:
        scope: The app.
        construct_id: The name of the stack.
        existing: What exists already.
        env: Account and Region. By default those of the credentials that deploy it.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, existing: Existing, env: Environment | None = None
    ) -> None:
        super().__init__(scope, construct_id, env=env, description="GPU training cluster beside what exists")
        self.cluster = TrainingCluster(
            self,
            "Cluster",
            instance_type="g5.12xlarge",
            node_count=2,
            vpc=self._import_vpc(existing),
            file_system=self._import_file_system(existing),
            data_volume=Volume(500, iops=6000, throughput_mb_s=500),
        )
        CfnOutput(
            self,
            "AutoScalingGroupName",
            value=self.cluster.auto_scaling_group.auto_scaling_group_name,
            description="The nodes",
        )
        for rule, reason in ACKNOWLEDGED.items():
            Validations.of(self).acknowledge(Acknowledgment(id=rule, reason=reason))

    def _import_vpc(self, existing: Existing) -> ec2.IVpc:
        return ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id=existing.vpc_id,
            availability_zones=[existing.availability_zone],
            private_subnet_ids=[existing.subnet_id],
            private_subnet_route_table_ids=[existing.route_table_id],
        )

    def _import_file_system(self, existing: Existing) -> LustreStorage:
        group = ec2.SecurityGroup.from_security_group_id(self, "FileSystemGroup", existing.security_group_id)
        return LustreStorage.from_attributes(self, "FileSystem", existing.file_system_id, existing.mount_name, group)
