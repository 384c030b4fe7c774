"""What the role of a node may do, by the resource that it may do it to.

A node may suspend the launches of its group and may not resume them: only people who have looked may.
"""

from __future__ import annotations

from typing import Final

from gpu_constructs.on_node.names import AGENT_NAMESPACE, FAILURES_FOLDER, METRIC_NAMESPACE

GROUP_ACTIONS: Final = (
    "autoscaling:CompleteLifecycleAction",
    "autoscaling:RecordLifecycleActionHeartbeat",
    "autoscaling:SetInstanceHealth",
    "autoscaling:SuspendProcesses",
)
"""On its own group."""
DESCRIBE_ACTIONS: Final = (
    "autoscaling:DescribeAutoScalingInstances",
    "ec2:DescribeTags",  # from which the CloudWatch agent knows the group
)
"""On "*": describing takes no resource."""
METRIC_ACTIONS: Final = ("cloudwatch:PutMetricData",)
"""On "*", which is all that it takes, and only under `METRIC_CONDITION`."""
METRIC_CONDITION: Final = {"StringEquals": {"cloudwatch:namespace": [METRIC_NAMESPACE, AGENT_NAMESPACE]}}
LOG_ACTIONS: Final = ("logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents")
"""On the log group that is told of boots, and on its streams."""
RECORD_ACTIONS: Final = ("s3:GetObject", "s3:PutObject")
"""On `record_objects` in the bucket of the records. Without s3:ListBucket S3 says 403 of a record that is not there
yet; the node takes that for what it is."""

ECR_ACTIONS: Final = ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer")
"""On the repository of the container image."""
ECR_LOGIN_ACTIONS: Final = ("ecr:GetAuthorizationToken",)
"""On "*", which is all that it takes."""
MODEL_BUCKET_ACTIONS: Final = ("s3:ListBucket",)
"""On the bucket of the model."""
MODEL_OBJECT_ACTIONS: Final = ("s3:GetObject",)
"""On the objects of its version."""
SECRET_ACTIONS: Final = ("secretsmanager:GetSecretValue",)
"""On the secret of the registry."""
SIGNAL_ACTIONS: Final = ("cloudformation:SignalResource",)
"""On the stack that waits for the node."""
QUEUE_ACTIONS: Final = (
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:ReceiveMessage",
)
"""On the queue that feeds a worker: its container has the role of the node."""


def record_objects(prefix: str) -> str:
    """Return the keys of the records below a prefix, as `IBucket.arn_for_objects` takes them."""
    return f"{prefix}{FAILURES_FOLDER}*"
