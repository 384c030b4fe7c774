"""An inference tier of g5.xlarge nodes with vLLM behind a load balancer."""

from __future__ import annotations

from typing import Final

from aws_cdk import Acknowledgment, CfnOutput, Environment, Stack, Validations
from aws_cdk import aws_certificatemanager as acm
from constructs import Construct

from gpu_constructs import InferenceTier, Listener, ModelSource, Scaling, ServingRuntime

# What cdk-nag finds, and why it stays as it is here.
ACKNOWLEDGED: Final = {
    "AwsSolutions-ELB2": "requests are logged where the stack has an env with a Region",
    "AwsSolutions-VPC7": "flow logs are billed by the GB; add tier.vpc.add_flow_log(...) where they are required",
    "AwsSolutions-AS3": "nobody is to be notified of each node in this example",
    "AwsSolutions-S1": "the bucket is itself for logs, of requests and of boots that failed",
    "AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AmazonSSMManagedInstanceCore]": (
        "the policy that AWS maintains for nodes managed by Systems Manager"
    ),
    "AwsSolutions-IAM5[Resource::*]": (
        "listing the groups of instances, their tags, and publishing metrics take no resource"
    ),
    "AwsSolutions-IAM5[Resource::<ServingBucket082A9932.Arn>/gpu-node/control/boot-failures/*]": (
        "the record of boots that failed is named after the group, whose name only the deployment knows"
    ),
    (
        "AwsSolutions-IAM5[Resource::arn:<AWS::Partition>:autoscaling:<AWS::Region>:<AWS::AccountId>"
        ":autoScalingGroup:*:autoScalingGroupName/InferenceStack-ServingNodesASG0993E9AD-*]"
    ): ("nodes complete the hooks of their own group, whose name CloudFormation ends as it likes"),
}


class InferenceStack(Stack):
    """One to four g5.xlarge nodes with vLLM, a VPC and a load balancer.

    Args:
        scope: The app.
        construct_id: The name of the stack.
        certificate_arn: A certificate for `domain_name`. By default the load balancer is within the VPC, by plain HTTP.
        domain_name: The name that clients use.
        env: Account and Region. By default those of the credentials that deploy it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        certificate_arn: str | None = None,
        domain_name: str | None = None,
        env: Environment | None = None,
    ) -> None:
        super().__init__(
            scope, construct_id, env=env, description="GPU inference tier: vLLM on g5.xlarge behind a load balancer"
        )
        listener = Listener.internal_http()
        if certificate_arn and domain_name:
            certificate = acm.Certificate.from_certificate_arn(self, "Certificate", certificate_arn)
            listener = Listener.https(certificate, domain_name)
        self.tier = InferenceTier(
            self,
            "Serving",
            instance_types=["g5.xlarge"],
            # 7.6 GiB of weights leave room on 22.4 GiB for a context of 40960 tokens.
            runtime=ServingRuntime.vllm("vllm/vllm-openai:v0.29.0", "Qwen/Qwen3-4B", slots=32),
            model=ModelSource.in_image(size_gib=7.6),
            listener=listener,
            min_capacity=1,
            max_capacity=4,
            scaling=[Scaling.gpu_utilization(60)],
        )
        CfnOutput(self, "Url", value=self.tier.url, description="Where requests go")
        group = self.tier.auto_scaling_group
        CfnOutput(self, "AutoScalingGroupName", value=group.auto_scaling_group_name, description="The nodes")
        for rule, reason in ACKNOWLEDGED.items():
            Validations.of(self).acknowledge(Acknowledgment(id=rule, reason=reason))
