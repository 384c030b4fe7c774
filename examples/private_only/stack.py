"""Two g5.8xlarge nodes that train together and can reach AWS, but not the internet."""

from __future__ import annotations

from typing import Final

from aws_cdk import Acknowledgment, CfnOutput, Environment, Stack, Validations
from constructs import Construct

from gpu_constructs import Efa, Lustre, TrainingCluster
from gpu_constructs.network import private_vpc

# What cdk-nag finds, and why it stays as it is here. A library that acknowledged findings by itself would hide them.
ACKNOWLEDGED: Final = {
    "AwsSolutions-VPC7": "flow logs are billed by the GB; add vpc.add_flow_log(...) where they are required",
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
        ":autoScalingGroup:*:autoScalingGroupName/PrivateTrainingStack-ClusterNodesASG2FE6C426-*]"
    ): ("nodes complete the hooks of their own group, whose name CloudFormation ends as it likes"),
}


class PrivateTrainingStack(Stack):
    """Two g5.8xlarge nodes with EFA in a VPC without gateways, endpoints of AWS services, and a checkpoint bucket.

    Args:
        scope: The app.
        construct_id: The name of the stack.
        availability_zone: The zone of the cluster. By default the first of the account.
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
        super().__init__(scope, construct_id, env=env, description="GPU training cluster without internet")
        vpc = private_vpc(self, "Vpc", availability_zone=availability_zone)
        cluster = TrainingCluster(
            self,
            "Cluster",
            instance_type="g5.8xlarge",
            node_count=2,
            vpc=vpc,
            efa=Efa.REQUIRED,
            file_system=Lustre.none(),
        )
        CfnOutput(self, "CheckpointBucket", value=cluster.checkpoint_bucket.bucket_name)
        CfnOutput(self, "AutoScalingGroupName", value=cluster.auto_scaling_group.auto_scaling_group_name)
        for rule, reason in ACKNOWLEDGED.items():
            Validations.of(self).acknowledge(Acknowledgment(id=rule, reason=reason))
