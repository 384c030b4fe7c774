"""Which series are published, by whom, and with which dimensions. Imports no aws_cdk.

A metric with a dimension too many or too few is another metric, which nobody publishes: its alarm never rings and its
policy never scales. So whatever reads a series takes its names from here.

The names of the CloudWatch agent are those of its own source (receiver and plugin of nvidia_gpu): the prefix is
"nvidia_smi_", whatever the section is called. Those of AWS are from the pages below.

https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Agent-NVIDIA-GPU.html
https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-cloudwatch-metrics.html
https://docs.aws.amazon.com/elasticloadbalancing/latest/network/load-balancer-cloudwatch-metrics.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpu_constructs.on_node.names import AGENT_NAMESPACE, GROUP_DIMENSION

INSTANCE, INSTANCE_TYPE = "InstanceId", "InstanceType"
LOAD_BALANCER, TARGET_GROUP = "LoadBalancer", "TargetGroup"


@dataclass(frozen=True, kw_only=True)
class Series:
    """A metric as it is published.

    Args:
        namespace: Its namespace.
        name: Its name.
        dimension_sets: The sets of dimensions with which it is published, each in the order in which we write it.
    """

    namespace: str
    name: str
    dimension_sets: tuple[tuple[str, ...], ...]

    def has(self, dimensions: tuple[str, ...]) -> bool:
        """Whether it is published with exactly these dimensions, in whatever order."""
        return any(set(published) == set(dimensions) for published in self.dimension_sets)


# The agent's own dimensions, index, name and arch, are of the series of one GPU; these are its aggregations.
_OF_GROUP = ((GROUP_DIMENSION,),)
_OF_TARGETS = ((LOAD_BALANCER,), (TARGET_GROUP, LOAD_BALANCER))

GPU_UTILIZATION: Final = Series(namespace=AGENT_NAMESPACE, name="nvidia_smi_utilization_gpu", dimension_sets=_OF_GROUP)
"""In percent, of all GPUs of all nodes of a group."""
GPU_MEMORY_USED: Final = Series(namespace=AGENT_NAMESPACE, name="nvidia_smi_memory_used", dimension_sets=_OF_GROUP)
"""In MiB, of each GPU."""
GPU_MEMORY_TOTAL: Final = Series(namespace=AGENT_NAMESPACE, name="nvidia_smi_memory_total", dimension_sets=_OF_GROUP)
"""In MiB, of each GPU."""
REQUESTS: Final = Series(namespace="AWS/ApplicationELB", name="RequestCount", dimension_sets=_OF_TARGETS)
LATENCY: Final = Series(namespace="AWS/ApplicationELB", name="TargetResponseTime", dimension_sets=_OF_TARGETS)
"""In seconds, from the request to the first byte of the answer."""
TARGET_ERRORS: Final = Series(
    namespace="AWS/ApplicationELB", name="HTTPCode_Target_5XX_Count", dimension_sets=_OF_TARGETS
)
FLOWS: Final = Series(
    namespace="AWS/NetworkELB", name="NewFlowCount", dimension_sets=((LOAD_BALANCER,), (TARGET_GROUP, LOAD_BALANCER))
)
QUEUE_VISIBLE: Final = Series(
    namespace="AWS/SQS", name="ApproximateNumberOfMessagesVisible", dimension_sets=(("QueueName",),)
)
