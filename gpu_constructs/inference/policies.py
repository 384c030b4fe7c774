"""From `Scaling` values to the policies of a group, and the alarm that says that they are blind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from gpu_constructs.inference.scaling import Scaling
from gpu_constructs.observability import dimensions
from gpu_constructs.on_node.names import GROUP_DIMENSION

ALARM_DESCRIPTION: Final = (
    "No node publishes the utilisation of its GPUs: the group keeps its size, whatever comes. Either it has no nodes, "
    "or the CloudWatch agent does not run on them (/opt/aws/amazon-cloudwatch-agent/logs)."
)

_Property = autoscaling.CfnScalingPolicy


def create_policies(scope: Construct, group: autoscaling.AutoScalingGroup, policies: Sequence[Scaling]) -> None:
    """Create a target tracking policy for each value.

    They are L1: the L2 drops the period, and refuses all but single metrics.

    Args:
        scope: The construct that owns them.
        group: The group.
        policies: The values, each of a measure of its own.
    """
    for policy in policies:
        words = "".join(word.capitalize() for word in policy.measure.split("-"))
        autoscaling.CfnScalingPolicy(
            scope,
            f"Scaling{words}",
            auto_scaling_group_name=group.auto_scaling_group_name,
            policy_type="TargetTrackingScaling",
            target_tracking_configuration=_tracking(policy, group),
        )


def create_missing_alarm(scope: Construct, id: str, metric: cloudwatch.IMetric) -> cloudwatch.Alarm:
    """Create the alarm (about 0.10 USD a month) that says that the metric of a policy has no data."""
    return cloudwatch.Alarm(
        scope,
        id,
        alarm_description=ALARM_DESCRIPTION,
        metric=metric,
        threshold=1,
        comparison_operator=cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
        evaluation_periods=3,
        treat_missing_data=cloudwatch.TreatMissingData.BREACHING,
    )


def group_metric(
    group: autoscaling.AutoScalingGroup, series: dimensions.Series, *, statistic: str, period: Duration
) -> cloudwatch.Metric:
    """Return a series of the nodes of a group."""
    assert series.has((GROUP_DIMENSION,))
    return cloudwatch.Metric(
        namespace=series.namespace,
        metric_name=series.name,
        dimensions_map={GROUP_DIMENSION: group.auto_scaling_group_name},
        statistic=statistic,
        period=period,
    )


def _tracking(
    policy: Scaling, group: autoscaling.AutoScalingGroup
) -> autoscaling.CfnScalingPolicy.TargetTrackingConfigurationProperty:
    if policy.measure == "cpu-utilization":
        return _Property.TargetTrackingConfigurationProperty(
            target_value=policy.target,
            predefined_metric_specification=_Property.PredefinedMetricSpecificationProperty(
                predefined_metric_type="ASGAverageCPUUtilization"
            ),
        )
    series = dimensions.GPU_UTILIZATION
    return _Property.TargetTrackingConfigurationProperty(
        target_value=policy.target,
        customized_metric_specification=_Property.CustomizedMetricSpecificationProperty(
            namespace=series.namespace,
            metric_name=series.name,
            statistic="Average",
            dimensions=[_Property.MetricDimensionProperty(name=GROUP_DIMENSION, value=group.auto_scaling_group_name)],
        ),
    )
