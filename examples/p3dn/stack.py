"""A training cluster of two p3dn.24xlarge nodes, which install the driver of V100 themselves."""

from __future__ import annotations

from typing import Final

from aws_cdk import Acknowledgment, Environment, Stack, Validations
from constructs import Construct

from examples.training import stack as training
from gpu_constructs import GpuImage, Lustre, TrainingCluster

# The findings of cdk-nag are those of the other training cluster, and stay for the same reasons.
ACKNOWLEDGED: Final = {
    rule.replace("TrainingStack-", "P3dnStack-"): reason for rule, reason in training.ACKNOWLEDGED.items()
}


class P3dnStack(Stack):
    """Two p3dn.24xlarge nodes with EFA, a VPC, a scratch file system and a checkpoint bucket.

    No current Deep Learning AMI has a driver for V100. By default nodes start from plain Amazon Linux 2023 and install
    driver R580, CUDA and PyTorch themselves; with an image of your own that has them they start sooner.

    Args:
        scope: The app.
        construct_id: The name of the stack.
        ami_id: An image of your own, on Amazon Linux 2023, with NVIDIA driver R580 or older.
        availability_zone: The zone of the cluster. By default the first of the account; pass one that has p3dn.
        env: Account and Region. By default those of the credentials that deploy it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        ami_id: str | None = None,
        availability_zone: str | None = None,
        env: Environment | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            env=env,
            description="GPU training cluster: two p3dn.24xlarge with EFA and Lustre",
        )
        self.cluster = TrainingCluster(
            self,
            "Cluster",
            instance_type="p3dn.24xlarge",
            node_count=2,
            image=GpuImage.custom(ami_id, os="al2023") if ami_id else None,
            availability_zone=availability_zone,
            file_system=Lustre.scratch(1200),
        )
        for rule, reason in ACKNOWLEDGED.items():
            Validations.of(self).acknowledge(Acknowledgment(id=rule, reason=reason))
