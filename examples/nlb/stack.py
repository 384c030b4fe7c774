"""TensorFlow Serving behind a Network Load Balancer with addresses that stay."""

from __future__ import annotations

from typing import Final

from aws_cdk import Acknowledgment, CfnOutput, Environment, Stack, Validations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from constructs import Construct

from gpu_constructs import InferenceTier, Listener, ModelSource, ServingRuntime

# What cdk-nag finds, and why it stays as it is here.
ACKNOWLEDGED: Final = {
    "AwsSolutions-ELB2": "a Network Load Balancer logs connections by TLS alone",
    "AwsSolutions-VPC7": "flow logs are billed by the GB; add tier.vpc.add_flow_log(...) where they are required",
    "AwsSolutions-AS3": "nobody is to be notified of each node in this example",
    "AwsSolutions-S1": "the bucket is itself for logs, of requests and of boots that failed",
    "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AmazonSSMManagedInstanceCore]": (
        "the policy that AWS maintains for nodes managed by Systems Manager"
    ),
    "AwsSolutions-IAM5[Resource::*]": (
        "listing the groups of instances, their tags, and publishing metrics take no resource"
    ),
    "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::team-models/models/3/*]": "all files of one version",
    "AwsSolutions-IAM5[Resource::<ServingBucket082A9932.Arn>/gpu-node/control/boot-failures/*]": (
        "the record of boots that failed is named after the group, whose name only the deployment knows"
    ),
    (
        "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:autoscaling:<AWS::Region>:<AWS::AccountId>"
        ":autoScalingGroup:*:autoScalingGroupName/NlbStack-ServingNodesASG0993E9AD-*]"
    ): ("nodes complete the hooks of their own group, whose name CloudFormation ends as it likes"),
}


class NlbStack(Stack):
    """One to four g4dn.xlarge nodes with TensorFlow Serving behind a Network Load Balancer.

    Args:
        scope: The app.
        construct_id: The name of the stack.
        model_bucket: The name of the bucket that has the model in models/3/.
        env: Account and Region. By default those of the credentials that deploy it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        model_bucket: str,
        env: Environment | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            env=env,
            description="GPU inference tier: TensorFlow Serving behind a Network Load Balancer",
        )
        bucket = s3.Bucket.from_bucket_name(self, "Models", model_bucket)
        self.tier = InferenceTier(
            self,
            "Serving",
            instance_types=["g4dn.xlarge"],
            runtime=ServingRuntime.tensorflow_serving("tensorflow/serving:2.20.0-gpu", "ranker"),
            model=ModelSource.s3(bucket, "models", version="3", size_gib=2),
            listener=Listener.nlb(8501, allowed_peers=[ec2.Peer.ipv4("10.0.0.0/8")]),
        )
        CfnOutput(self, "Url", value=self.tier.url, description="Where requests go")
        group = self.tier.auto_scaling_group
        CfnOutput(self, "AutoScalingGroupName", value=group.auto_scaling_group_name, description="The nodes")
        for rule, reason in ACKNOWLEDGED.items():
            Validations.of(self).acknowledge(Acknowledgment(id=rule, reason=reason))
