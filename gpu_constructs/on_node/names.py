"""Names that the node and the constructs agree on. Imports nothing, so that either may import it."""

METRIC_NAMESPACE = "GpuConstructs"
"""The namespace of the metrics that nodes publish."""
AGENT_NAMESPACE = "CWAgent"
"""The namespace of the metrics that the CloudWatch agent publishes."""
LAUNCHES_SUSPENDED = "LaunchesSuspended"
"""The metric that says 1 when a node has suspended the launches of its group, or has tried to."""
GROUP_DIMENSION = "AutoScalingGroupName"
"""Its one dimension."""

FAILURES_THAT_SUSPEND = 3
"""How many nodes of a group must have failed to boot until its launches are suspended."""
FAILURE_WINDOW_MINUTES = 30
"""Within how many minutes."""

FAILURES_FOLDER = "control/boot-failures/"
"""Where below the prefix of a bucket the records of boots that failed are, one a group."""


def failures_key(prefix: str, group: str) -> str:
    """Return the key of the record of a group: groups made from one launch template share its prefix."""
    return f"{prefix}{FAILURES_FOLDER}{group}.json"
