"""Workers on GPUs that take their work from a queue."""

from __future__ import annotations

from typing import Final

from aws_cdk import Acknowledgment, CfnOutput, Environment, Stack, Validations
from aws_cdk import aws_s3 as s3
from constructs import Construct

from gpu_constructs import InferenceTier, Listener, ModelSource, ServingRuntime

# What cdk-nag finds, and why it stays as it is here.
ACKNOWLEDGED: Final = {
    "AwsSolutions-VPC7": "flow logs are billed by the GB; add tier.vpc.add_flow_log(...) where they are required",
    "AwsSolutions-AS3": "nobody is to be notified of each node in this example",
    "AwsSolutions-S1": "the bucket is itself for logs, of requests and of boots that failed",
    "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AmazonSSMManagedInstanceCore]": (
        "the policy that AWS maintains for nodes managed by Systems Manager"
    ),
    "AwsSolutions-IAM5[Resource::*]": (
        "listing groups of instances and tags, publishing metrics and logging in to ECR take no resource"
    ),
    "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:s3:::team-models/models/3/*]": "all files of one version",
    "AwsSolutions-IAM5[Resource::<WorkersBucket99D7A247.Arn>/gpu-node/control/boot-failures/*]": (
        "the record of boots that failed is named after the group, whose name only the deployment knows"
    ),
    (
        "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:autoscaling:<AWS::Region>:<AWS::AccountId>"
        ":autoScalingGroup:*:autoScalingGroupName/QueueWorkersStack-WorkersNodesASG02BB7792-*]"
    ): ("nodes complete the hooks of their own group, whose name CloudFormation ends as it likes"),
}


class QueueWorkersStack(Stack):
    """One to six g4dn.xlarge nodes with a worker each, and the queue that feeds them.

    Args:
        scope: The app.
        construct_id: The name of the stack.
        image: The image of the worker, which takes messages from the queue in QUEUE_URL.
        model_bucket: The name of the bucket that has the model in models/3/.
        env: Account and Region. By default those of the credentials that deploy it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        image: str,
        model_bucket: str,
        env: Environment | None = None,
    ) -> None:
        super().__init__(scope, construct_id, env=env, description="GPU workers fed by a queue")
        bucket = s3.Bucket.from_bucket_name(self, "Models", model_bucket)
        self.tier = InferenceTier(
            self,
            "Workers",
            instance_types=["g4dn.xlarge"],
            runtime=ServingRuntime.container(image, request_seconds=120),
            model=ModelSource.s3(bucket, "models", version="3", size_gib=5),
            listener=Listener.none(),
            max_capacity=6,
        )
        CfnOutput(self, "Url", value=self.tier.url, description="The queue")
        group = self.tier.auto_scaling_group
        CfnOutput(self, "AutoScalingGroupName", value=group.auto_scaling_group_name, description="The nodes")
        for rule, reason in ACKNOWLEDGED.items():
            Validations.of(self).acknowledge(Acknowledgment(id=rule, reason=reason))
