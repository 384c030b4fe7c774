"""AWS::AutoScaling::ScalingPolicy, and what of a policy is refused; its alarms are those that name it as an action.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-autoscaling-scalingpolicy.html
"""

from __future__ import annotations

import copy
from typing import Any

from moto.autoscaling.exceptions import ValidationError
from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, FakeScalingPolicy
from moto.cloudwatch.models import cloudwatch_backends

from gpu_constructs.local.extend import add_method
from gpu_constructs.local.services.autoscaling.resources import OfGroup
from gpu_constructs.local.services.cloudformation import whole_number

_LOAD_BALANCED = "ALBRequestCountPerTarget"
_ONE_OF = ("PredefinedMetricSpecification", "CustomizedMetricSpecification")


def install() -> None:
    """Let a policy name its alarms."""
    add_method(FakeScalingPolicy, _ALARMS, "alarms")


def _alarms_of(self: FakeScalingPolicy) -> list[dict[str, str]]:
    """The alarms whose actions are this policy; those of target tracking AWS makes by itself, and nothing here does."""
    backend = cloudwatch_backends[self.autoscaling_backend.account_id][self.autoscaling_backend.region_name]
    return [
        {"AlarmName": alarm.name, "AlarmARN": alarm.alarm_arn}
        for alarm in backend.alarms.values()
        if self.arn in (alarm.alarm_actions or [])
    ]


_ALARMS = property(_alarms_of)


class ScalingPolicyResource(OfGroup):
    """A target tracking, step, simple or predictive policy, which CloudFormation names."""

    TYPE = "AWS::AutoScaling::ScalingPolicy"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.name = name
        group = self.group_of(properties)
        check(group, properties)
        self.physical_resource_id = _put(self.backend, group, name, copy.deepcopy(properties))

    def update(self, properties: dict[str, Any]) -> None:
        """In place: a policy is put anew under its name."""
        self.create(self.name, properties)

    def delete(self, *_: str) -> None:
        self.backend.delete_policy(self.name)

    def attributes(self) -> dict[str, Any]:
        return {"Arn": self.physical_resource_id, "PolicyName": self.name}


def check(group: FakeAutoScalingGroup, properties: dict[str, Any]) -> None:
    """Check a policy as the service does.

    Raises:
        ValidationError: The metric is given twice or not at all, or there are no steps.
    """
    kind = properties.get("PolicyType") or "SimpleScaling"
    if kind == "StepScaling" and not properties.get("StepAdjustments"):
        raise ValidationError("At least one StepAdjustment must be specified for policies of type StepScaling")
    if kind != "TargetTrackingScaling":
        return
    tracking = properties.get("TargetTrackingConfiguration") or {}
    if tracking.get("TargetValue") is None:
        raise ValidationError("TargetValue must be specified")
    if sum(1 for name in _ONE_OF if tracking.get(name)) != 1:
        raise ValidationError(
            "Exactly one of PredefinedMetricSpecification or CustomizedMetricSpecification must be specified"
        )
    _check_customized(tracking.get("CustomizedMetricSpecification") or {})
    _check_predefined(group, tracking.get("PredefinedMetricSpecification") or {})


def _check_customized(metric: dict[str, Any]) -> None:
    if metric.get("Metrics") and (metric.get("MetricName") or metric.get("Namespace")):
        raise ValidationError("You cannot specify both Metrics and a single metric in CustomizedMetricSpecification")
    if metric.get("Metrics") and sum(1 for query in metric["Metrics"] if query.get("ReturnData", True)) != 1:
        raise ValidationError("Exactly one element of the metrics list should return data")


def _check_predefined(group: FakeAutoScalingGroup, metric: dict[str, Any]) -> None:
    """Requests of a target are counted in a target group that a load balancer forwards to, and that the group is in."""
    if metric.get("PredefinedMetricType") != _LOAD_BALANCED:
        return
    label = metric.get("ResourceLabel") or ""
    known = group.autoscaling_backend.elbv2_backend.target_groups
    for arn in group.target_group_arns:
        for balancer in known[arn].load_balancer_arns if arn in known else []:
            if label == f"{balancer.partition(':loadbalancer/')[2]}/{arn.rpartition(':')[2]}":
                return
    raise ValidationError(
        f"The resource label '{label}' is not valid: it must be app/<load balancer>/<id>/targetgroup/<name>/<id> of "
        "a target group that the Auto Scaling group is attached to"
    )


def _put(backend: AutoScalingBackend, group: FakeAutoScalingGroup, name: str, properties: dict[str, Any]) -> str:
    # moto declares most of these as strings, and keeps whatever it is given.
    settings: dict[str, Any] = {
        "name": name,
        "policy_type": properties.get("PolicyType") or "SimpleScaling",
        "metric_aggregation_type": properties.get("MetricAggregationType"),
        "adjustment_type": properties.get("AdjustmentType"),
        "as_name": group.name,
        "min_adjustment_magnitude": properties.get("MinAdjustmentMagnitude"),
        "scaling_adjustment": whole_number(properties.get("ScalingAdjustment")),
        "cooldown": whole_number(properties.get("Cooldown")),
        "target_tracking_config": properties.get("TargetTrackingConfiguration") or {},
        "step_adjustments": properties.get("StepAdjustments") or [],
        "estimated_instance_warmup": properties.get("EstimatedInstanceWarmup"),
        "predictive_scaling_configuration": properties.get("PredictiveScalingConfiguration") or {},
    }
    return backend.put_scaling_policy(**settings).arn
