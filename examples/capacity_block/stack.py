"""A training cluster of two p5.48xlarge nodes that come and go with a Capacity Block."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Final

from aws_cdk import Acknowledgment, CfnOutput, Environment, Stack, Validations
from constructs import Construct

from gpu_constructs import Capacity, Lustre, TrainingCluster

# What cdk-nag finds, and why it stays as it is here.
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
        ":autoScalingGroup:*:autoScalingGroupName/CapacityBlockStack-ClusterNodesASG2FE6C426-*]"
    ): ("nodes complete the hooks of their own group, whose name CloudFormation ends as it likes"),
}

# Of the block that was bought: StartDate and EndDate of `aws ec2 describe-capacity-reservations`.
START: Final = datetime(2027, 3, 1, 11, 30, tzinfo=timezone.utc)
END: Final = datetime(2027, 3, 8, 11, 30, tzinfo=timezone.utc)


class CapacityBlockStack(Stack):
    """Two p5.48xlarge nodes from a Capacity Block of a week.

    Args:
        scope: The app.
        construct_id: The name of the stack.
        reservation_id: The block, "cr-...".
        availability_zone: The zone of the block.
        env: Account and Region. By default those of the credentials that deploy it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        reservation_id: str,
        availability_zone: str,
        env: Environment | None = None,
    ) -> None:
        super().__init__(scope, construct_id, env=env, description="GPU training cluster: p5.48xlarge, Capacity Block")
        self.cluster = TrainingCluster(
            self,
            "Cluster",
            instance_type="p5.48xlarge",
            node_count=2,
            availability_zone=availability_zone,
            capacity=Capacity.capacity_block(reservation_id, start=START, end=END),
            file_system=Lustre.scratch(1200),
        )
        group = self.cluster.auto_scaling_group
        CfnOutput(self, "AutoScalingGroupName", value=group.auto_scaling_group_name, description="The nodes")
        calendar = self.cluster.node_group.calendar
        assert calendar is not None
        CfnOutput(
            self,
            "ExpiryTopic",
            value=calendar.expiry_topic.topic_arn,
            description="Told 40 minutes before the block ends; subscribe to it",
        )
        for rule, reason in ACKNOWLEDGED.items():
            Validations.of(self).acknowledge(Acknowledgment(id=rule, reason=reason))
