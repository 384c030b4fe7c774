"""What an Auto Scaling group of model servers has beyond one of any nodes: updates, warm-up, metrics, a warm pool."""

from __future__ import annotations

from typing import cast

from aws_cdk import (
    CfnAutoScalingRollingUpdate,
    CfnAutoScalingScheduledAction,
    CfnCreationPolicy,
    CfnResourceSignal,
    CfnUpdatePolicy,
)
from aws_cdk import aws_autoscaling as autoscaling
from constructs import Construct

from gpu_constructs.inference import rollout as rollouts
from gpu_constructs.inference.load_budget import BOOT_SECONDS, LoadBudget
from gpu_constructs.inference.rollout import Rollout

# What would start or end nodes of its own while they are replaced; the list of CloudFormation's own page.
_SUSPENDED = ["HealthCheck", "ReplaceUnhealthy", "AZRebalance", "AlarmNotification", "ScheduledActions"]


def apply(
    group: autoscaling.AutoScalingGroup, *, rollout: Rollout, budget: LoadBudget, min_capacity: int, waits: bool
) -> None:
    """Set on a group how its nodes are replaced, and how long new ones do not count.

    Args:
        group: The group.
        rollout: How nodes are replaced.
        budget: How long a node may take until it serves.
        min_capacity: Fewest nodes.
        waits: Whether deployments wait for nodes that serve.
    """
    resource = cast("autoscaling.CfnAutoScalingGroup", group.node.default_child)
    resource.default_instance_warmup = budget.warm_up_seconds
    resource.health_check_grace_period = budget.grace_seconds
    resource.metrics_collection = [autoscaling.CfnAutoScalingGroup.MetricsCollectionProperty(granularity="1Minute")]
    kept = cast("int", rollouts.min_in_service(rollout, min_capacity))
    # Without signals all that can be done is to wait as long as a node may take.
    pause = rollout.pause_seconds or (budget.signal_seconds if waits else BOOT_SECONDS + budget.ready_seconds)
    resource.cfn_options.update_policy = CfnUpdatePolicy(
        # Of GpuNodeGroup, which has set it as the whole policy.
        auto_scaling_scheduled_action=CfnAutoScalingScheduledAction(ignore_unmodified_group_size_properties=True),
        auto_scaling_rolling_update=CfnAutoScalingRollingUpdate(
            min_instances_in_service=kept,
            max_batch_size=rollouts.BATCH,
            pause_time=_iso(min(pause, 3600)),
            wait_on_resource_signals=waits,
            suspend_processes=_SUSPENDED,
        ),
    )
    if waits and min_capacity:
        resource.cfn_options.creation_policy = CfnCreationPolicy(
            resource_signal=CfnResourceSignal(count=min_capacity, timeout=_iso(budget.signal_seconds))
        )


def create_warm_pool(scope: Construct, id: str, group: autoscaling.AutoScalingGroup, nodes: int) -> None:
    """Create a pool of stopped nodes, which have image and model already: they cost their volumes alone."""
    autoscaling.CfnWarmPool(
        scope,
        id,
        auto_scaling_group_name=group.auto_scaling_group_name,
        pool_state="Stopped",
        # Only with both alike has it this size; else one that follows from max_capacity.
        min_size=nodes,
        max_group_prepared_capacity=nodes,
    )


def _iso(seconds: int) -> str:
    return f"PT{seconds // 60}M" if seconds % 60 == 0 else f"PT{seconds}S"
