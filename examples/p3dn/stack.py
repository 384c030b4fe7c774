"""A training cluster of two p3dn.24xlarge nodes, which start from an image of your own."""

from __future__ import annotations

from aws_cdk import Acknowledgment, Environment, Stack, Validations
from constructs import Construct

from examples.training.stack import ACKNOWLEDGED
from gpu_constructs import GpuImage, Lustre, TrainingCluster


class P3dnStack(Stack):
    """Two p3dn.24xlarge nodes with EFA, a VPC, a scratch file system and a checkpoint bucket.

    No current Deep Learning AMI has a driver for V100: the image is one of your own, with NVIDIA driver R580 or older.

    Args:
        scope: The app.
        construct_id: The name of the stack.
        ami_id: The image, on Amazon Linux 2023.
        availability_zone: The zone of the cluster. By default the first of the account; pass one that has p3dn.
        env: Account and Region. By default those of the credentials that deploy it.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        ami_id: str,
        availability_zone: str | None = None,
        env: Environment | None = None,
    ) -> None:
        super().__init__(
            scope,
            construct_id,
            env=env,
            description="GPU training cluster: two p3dn.24xlarge with an image of one's own",
        )
        self.cluster = TrainingCluster(
            self,
            "Cluster",
            instance_type="p3dn.24xlarge",
            node_count=2,
            image=GpuImage.custom(ami_id, os="al2023"),
            availability_zone=availability_zone,
            file_system=Lustre.scratch(1200),
        )
        # The findings of cdk-nag are those of the other training cluster, and stay for the same reasons.
        for rule, reason in ACKNOWLEDGED.items():
            Validations.of(self).acknowledge(Acknowledgment(id=rule, reason=reason))
