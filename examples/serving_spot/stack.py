"""An inference tier on spot nodes of several types, with one node on demand."""

from __future__ import annotations

from typing import Final

from aws_cdk import Acknowledgment, CfnOutput, Environment, Stack, Validations
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_s3 as s3
from constructs import Construct

from gpu_constructs import Capacity, InferenceTier, Listener, ModelSource, ServingRuntime

# What cdk-nag finds, and why it stays as it is here.
ACKNOWLEDGED: Final = {
    "AwsSolutions-EC26": "the root volume is encrypted; the rule fails on a group with a mixed instances policy",
    "AwsSolutions-VPC7": "flow logs are billed by the GB; add tier.vpc.add_flow_log(...) where they are required",
    "AwsSolutions-AS3": "nobody is to be notified of each node in this example",
    "AwsSolutions-S1": "the bucket is itself for logs, of requests and of boots that failed",
    "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AmazonSSMManagedInstanceCore]": (
        "the policy that AWS maintains for nodes managed by Systems Manager"
    ),
    "AwsSolutions-IAM5[Resource::*]": (
        "listing the groups of instances, their tags, and publishing metrics take no resource"
    ),
    "AwsSolutions-IAM5[Resource::arn:aws:s3:::team-models/models/3/*]": "all files of one version",
    "AwsSolutions-IAM5[Resource::<ServingBucket082A9932.Arn>/gpu-node/control/boot-failures/*]": (
        "the record of boots that failed is named after the group, whose name only the deployment knows"
    ),
    (
        "AwsSolutions-IAM5[Resource::arn:aws:autoscaling:us-east-1:111111111111"
        ":autoScalingGroup:*:autoScalingGroupName/ServingSpotStack-ServingNodesASG0993E9AD-*]"
    ): ("nodes complete the hooks of their own group, whose name CloudFormation ends as it likes"),
}


class ServingSpotStack(Stack):
    """Two to eight nodes with Triton: the first on demand, the others as spot.

    Args:
        scope: The app.
        construct_id: The name of the stack.
        model_bucket: The name of the bucket that holds the model repository, in models/3/.
        certificate_arn: A certificate for `domain_name`.
        domain_name: The name that clients use.
        env: Account and Region. By default those of the credentials that deploy it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        model_bucket: str,
        certificate_arn: str,
        domain_name: str,
        env: Environment | None = None,
    ) -> None:
        super().__init__(
            scope, construct_id, env=env, description="GPU inference tier: Triton on spot nodes, with one on demand"
        )
        bucket = s3.Bucket.from_bucket_name(self, "Models", model_bucket)
        certificate = acm.Certificate.from_certificate_arn(self, "Certificate", certificate_arn)
        self.tier = InferenceTier(
            self,
            "Serving",
            instance_types=["g5.xlarge", "g6.xlarge", "g5.2xlarge", "g6.2xlarge"],
            runtime=ServingRuntime.triton("nvcr.io/nvidia/tritonserver:26.06-py3"),
            model=ModelSource.s3(bucket, "models", version="3", size_gib=5),
            capacity=Capacity.spot(on_demand_base=1),
            listener=Listener.https(certificate, domain_name),
            min_capacity=2,
            max_capacity=8,
        )
        CfnOutput(self, "Url", value=self.tier.url, description="Where requests go")
        group = self.tier.auto_scaling_group
        CfnOutput(self, "AutoScalingGroupName", value=group.auto_scaling_group_name, description="The nodes")
        for rule, reason in ACKNOWLEDGED.items():
            Validations.of(self).acknowledge(Acknowledgment(id=rule, reason=reason))
