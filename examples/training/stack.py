"""A training cluster of two p4d.24xlarge nodes, with everything it needs around it."""

from __future__ import annotations

from typing import Final

from aws_cdk import Acknowledgment, CfnOutput, Environment, Stack, Validations
from constructs import Construct

from gpu_constructs import Lustre, TrainingCluster

# What cdk-nag finds, and why it stays as it is here. A library that acknowledged findings by itself would hide them.
ACKNOWLEDGED: Final = {
    "AwsSolutions-VPC7": "flow logs are billed by the GB; add cluster.vpc.add_flow_log(...) where they are required",
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
        ":autoScalingGroup:*:autoScalingGroupName/TrainingStack-ClusterNodesASG2FE6C426-*]"
    ): ("nodes complete the hooks of their own group, whose name CloudFormation ends as it likes"),
}


class TrainingStack(Stack):
    """Two p4d.24xlarge nodes with EFA, a VPC, a scratch file system and a checkpoint bucket.

    Args:
        scope: The app.
        construct_id: The name of the stack.
        availability_zone: The zone of the cluster. By default the first of the account; pass one that has p4d.
        env: Account and Region. By default those of the credentials that deploy it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        availability_zone: str | None = None,
        env: Environment | None = None,
    ) -> None:
        super().__init__(
            scope, construct_id, env=env, description="GPU training cluster: two p4d.24xlarge with EFA and Lustre"
        )
        self.cluster = TrainingCluster(
            self,
            "Cluster",
            instance_type="p4d.24xlarge",
            node_count=2,
            availability_zone=availability_zone,
            file_system=Lustre.scratch(1200),
        )
        self._add_outputs()
        for rule, reason in ACKNOWLEDGED.items():
            Validations.of(self).acknowledge(Acknowledgment(id=rule, reason=reason))

    def _add_outputs(self) -> None:
        assert self.cluster.file_system is not None
        outputs = {
            "CheckpointBucket": (self.cluster.checkpoint_bucket.bucket_name, "Where checkpoints are kept"),
            "FileSystemId": (self.cluster.file_system.file_system_id, "The Lustre file system"),
            "FileSystemMountName": (self.cluster.file_system.mount_name, "The name under which it is mounted"),
            "AutoScalingGroupName": (self.cluster.auto_scaling_group.auto_scaling_group_name, "The nodes"),
        }
        for output, (value, description) in outputs.items():
            CfnOutput(self, output, value=value, description=description)
