"""CloudFormation types: AWS::AutoScaling::LifecycleHook, ScalingPolicy, ScheduledAction and WarmPool."""

from __future__ import annotations

from typing import Any

from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, autoscaling_backends

from gpu_constructs.local.services.autoscaling import warm_pool
from gpu_constructs.local.services.autoscaling.groups import find_group
from gpu_constructs.local.services.autoscaling.hooks import put_hook
from gpu_constructs.local.services.cloudformation import LocalResource, whole_number


class _OfGroup(LocalResource):
    """What belongs to a group that its properties name."""

    group_name = ""

    @property
    def backend(self) -> AutoScalingBackend:
        """Moto's own."""
        return autoscaling_backends[self.account_id][self.region]

    def _group(self, properties: dict[str, Any]) -> FakeAutoScalingGroup:
        group = find_group(self.backend, properties["AutoScalingGroupName"])
        self.group_name = group.name
        return group


class LifecycleHookResource(_OfGroup):
    """A hook of its own, put after the group exists: the group's first instances do not meet it."""

    TYPE = "AWS::AutoScaling::LifecycleHook"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.physical_resource_id = properties.get("LifecycleHookName", name)
        hook = {**properties, "LifecycleHookName": self.physical_resource_id}
        put_hook(self.backend, self._group(properties).name, hook)

    def delete(self, *_: str) -> None:
        self.backend.delete_lifecycle_hook(self.group_name, self.physical_resource_id)


class ScalingPolicyResource(_OfGroup):
    """A target tracking, step, simple or predictive policy, which CloudFormation names; its alarms are not made."""

    TYPE = "AWS::AutoScaling::ScalingPolicy"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.name = name
        self.physical_resource_id = _put_policy(self.backend, self._group(properties), name, properties)

    def update(self, properties: dict[str, Any]) -> None:
        """In place: a policy is put anew under its name."""
        self.create(self.name, properties)

    def delete(self, *_: str) -> None:
        self.backend.delete_policy(self.name)

    def attributes(self) -> dict[str, Any]:
        return {"Arn": self.physical_resource_id, "PolicyName": self.name}


class ScheduledActionResource(_OfGroup):
    """A change of a group's size at a time; moto keeps it, and it never fires."""

    TYPE = "AWS::AutoScaling::ScheduledAction"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.physical_resource_id = name
        self.backend.put_scheduled_update_group_action(
            name=self._group(properties).name,
            scheduled_action_name=name,
            desired_capacity=properties.get("DesiredCapacity"),
            max_size=properties.get("MaxSize"),
            min_size=properties.get("MinSize"),
            start_time=properties.get("StartTime"),
            end_time=properties.get("EndTime"),
            recurrence=properties.get("Recurrence"),
            timezone=properties.get("TimeZone"),
        )

    def delete(self, *_: str) -> None:
        self.backend.delete_scheduled_action(self.group_name, self.physical_resource_id)

    def attributes(self) -> dict[str, Any]:
        return {"ScheduledActionName": self.physical_resource_id}


class WarmPoolResource(_OfGroup):
    """A group's warm pool; what the template does not say has its default."""

    TYPE = "AWS::AutoScaling::WarmPool"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        defaults = {"MaxGroupPreparedCapacity": -1, "MinSize": 0, "PoolState": "Stopped", "InstanceReusePolicy": None}
        group = self._group(properties)
        warm_pool.put(group, {**defaults, **properties})
        self.physical_resource_id = group.name

    def update(self, properties: dict[str, Any]) -> None:
        """In place; a pool of another group is another pool."""
        if properties["AutoScalingGroupName"] != self.group_name:
            self.delete()
        self.create(self.physical_resource_id, properties)

    def delete(self, *_: str) -> None:
        group = self.backend.autoscaling_groups.get(self.group_name)
        if group and group.warm_pool:
            warm_pool.delete(group, force=True)


def _put_policy(backend: AutoScalingBackend, group: FakeAutoScalingGroup, name: str, properties: dict[str, Any]) -> str:
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
