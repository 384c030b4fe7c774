"""A test of a stack with a cluster: what it promises, whatever else is in it."""

from collections.abc import Callable
from typing import Any

from aws_cdk import App, Stack

from gpu_constructs import TrainingCluster
from gpu_constructs.testing import (
    assert_efa_valid,
    assert_encrypted_volumes,
    assert_imdsv2,
    assert_no_public_address,
    assert_retained,
)


def test_cluster(gpu_app: App, gpu_template: Callable[[Stack], dict[str, Any]]) -> None:
    """The fixtures come from gpu_constructs."""
    stack = Stack(gpu_app, "Training")
    TrainingCluster(stack, "Cluster", instance_type="p4d.24xlarge", node_count=2)

    template = gpu_template(stack)

    assert_efa_valid(template)
    assert_no_public_address(template)
    assert_imdsv2(template)
    assert_encrypted_volumes(template)
    assert_retained(template, "AWS::S3::Bucket")
