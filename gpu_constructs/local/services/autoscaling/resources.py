"""CloudFormation types that moto lacks: AWS::AutoScaling::LifecycleHook, ScalingPolicy and WarmPool.

moto finds them as direct subclasses of `CloudFormationModel`, as soon as this module is imported.
"""

from __future__ import annotations

from typing import Any

from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, autoscaling_backends
from moto.cloudformation.exceptions import UnformattedGetAttTemplateException
from moto.core.common_models import CloudFormationModel

from gpu_constructs.local.services.autoscaling import warm_pool
from gpu_constructs.local.services.autoscaling.groups import find_group
from gpu_constructs.local.services.autoscaling.hooks import put_hook


class LifecycleHookResource(CloudFormationModel):
    """A hook of its own, put after the group exists: the group's first instances do not meet it."""

    def __init__(self, group_name: str, name: str) -> None:
        self.group_name = group_name
        self.name = name

    @property
    def physical_resource_id(self) -> str:
        """What Ref returns: the hook's name."""
        return self.name

    @staticmethod
    def cloudformation_name_type() -> str:
        """The property that names it."""
        return "LifecycleHookName"

    @staticmethod
    def cloudformation_type() -> str:
        """The type."""
        return "AWS::AutoScaling::LifecycleHook"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """It has none."""
        return False

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """It has none."""
        raise UnformattedGetAttTemplateException

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str, **_: Any
    ) -> LifecycleHookResource:
        """Put the hook."""
        backend, properties = autoscaling_backends[account_id][region_name], cloudformation_json["Properties"]
        group = find_group(backend, properties["AutoScalingGroupName"])
        put_hook(backend, group.name, {**properties, "LifecycleHookName": resource_name})
        return cls(group.name, resource_name)

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: LifecycleHookResource,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> LifecycleHookResource:
        """Put it anew; under its old name unless the template gives one."""
        name = _name(cls, cloudformation_json, original_resource.name, new_resource_name)
        original_resource.delete(account_id, region_name)
        return cls.create_from_cloudformation_json(name, cloudformation_json, account_id, region_name)

    @classmethod
    def delete_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str
    ) -> None:
        """Delete the hook."""
        cls(cloudformation_json["Properties"]["AutoScalingGroupName"], resource_name).delete(account_id, region_name)

    def delete(self, account_id: str, region_name: str) -> None:
        """Delete the hook, if it is still there."""
        autoscaling_backends[account_id][region_name].delete_lifecycle_hook(self.group_name, self.name)


class ScalingPolicyResource(CloudFormationModel):
    """A target tracking, step, simple or predictive policy; its alarms are not made."""

    def __init__(self, name: str, arn: str) -> None:
        self.name = name
        self.arn = arn

    @property
    def physical_resource_id(self) -> str:
        """What Ref returns: the policy's ARN."""
        return self.arn

    @staticmethod
    def cloudformation_name_type() -> str:
        """No property names it: CloudFormation always does."""
        return ""

    @staticmethod
    def cloudformation_type() -> str:
        """The type."""
        return "AWS::AutoScaling::ScalingPolicy"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """Arn and PolicyName."""
        return attr in {"Arn", "PolicyName"}

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """Arn and PolicyName."""
        if not self.has_cfn_attr(attribute_name):
            raise UnformattedGetAttTemplateException
        return self.arn if attribute_name == "Arn" else self.name

    @classmethod
    def create_from_cloudformation_json(
        cls, resource_name: str, cloudformation_json: dict[str, Any], account_id: str, region_name: str, **_: Any
    ) -> ScalingPolicyResource:
        """Put the policy."""
        backend, properties = autoscaling_backends[account_id][region_name], cloudformation_json["Properties"]
        group = find_group(backend, properties["AutoScalingGroupName"])
        return cls(resource_name, _put_policy(backend, group, resource_name, properties))

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: ScalingPolicyResource,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> ScalingPolicyResource:
        """Put it anew under its name."""
        return cls.create_from_cloudformation_json(original_resource.name, cloudformation_json, account_id, region_name)

    @classmethod
    def delete_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> None:
        """Delete the policy; its physical id is its ARN."""
        cls(resource_name.rsplit("policyName/", 1)[-1], resource_name).delete(account_id, region_name)

    def delete(self, account_id: str, region_name: str) -> None:
        """Delete the policy, if it is still there."""
        autoscaling_backends[account_id][region_name].delete_policy(self.name)


class WarmPoolResource(CloudFormationModel):
    """A group's warm pool."""

    def __init__(self, group_name: str) -> None:
        self.group_name = group_name

    @property
    def physical_resource_id(self) -> str:
        """What Ref returns: the group's name."""
        return self.group_name

    @staticmethod
    def cloudformation_name_type() -> str:
        """It has no name."""
        return ""

    @staticmethod
    def cloudformation_type() -> str:
        """The type."""
        return "AWS::AutoScaling::WarmPool"

    @classmethod
    def has_cfn_attr(cls, attr: str) -> bool:
        """It has none."""
        return False

    def get_cfn_attribute(self, attribute_name: str) -> str:
        """It has none."""
        raise UnformattedGetAttTemplateException

    @classmethod
    def create_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
        **_: Any,
    ) -> WarmPoolResource:
        """Put the pool; what the template does not say has its default."""
        properties = cloudformation_json["Properties"]
        group = find_group(autoscaling_backends[account_id][region_name], properties["AutoScalingGroupName"])
        defaults = {"MaxGroupPreparedCapacity": -1, "MinSize": 0, "PoolState": "Stopped", "InstanceReusePolicy": None}
        warm_pool.put(group, {**defaults, **properties})
        return cls(group.name)

    @classmethod
    def update_from_cloudformation_json(
        cls,
        original_resource: WarmPoolResource,
        new_resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> WarmPoolResource:
        """Change the pool; a pool of another group is another pool."""
        if cloudformation_json["Properties"]["AutoScalingGroupName"] != original_resource.group_name:
            original_resource.delete(account_id, region_name)
        return cls.create_from_cloudformation_json(new_resource_name, cloudformation_json, account_id, region_name)

    @classmethod
    def delete_from_cloudformation_json(
        cls,
        resource_name: str,
        cloudformation_json: dict[str, Any],
        account_id: str,
        region_name: str,
    ) -> None:
        """Delete the pool; its physical id is the group's name."""
        cls(resource_name).delete(account_id, region_name)

    def delete(self, account_id: str, region_name: str) -> None:
        """Delete the pool and its instances, if the group is still there."""
        group = autoscaling_backends[account_id][region_name].autoscaling_groups.get(self.group_name)
        if group and group.warm_pool:
            warm_pool.delete(group, force=True)


def _name(cls: type[LifecycleHookResource], cloudformation_json: dict[str, Any], old: str, new: str) -> str:
    return new if cls.cloudformation_name_type() in cloudformation_json["Properties"] else old


def _put_policy(backend: AutoScalingBackend, group: FakeAutoScalingGroup, name: str, properties: dict[str, Any]) -> str:
    # moto declares most of these as strings, and keeps whatever it is given.
    settings: dict[str, Any] = {
        "name": name,
        "policy_type": properties.get("PolicyType") or "SimpleScaling",
        "metric_aggregation_type": properties.get("MetricAggregationType"),
        "adjustment_type": properties.get("AdjustmentType"),
        "as_name": group.name,
        "min_adjustment_magnitude": properties.get("MinAdjustmentMagnitude"),
        "scaling_adjustment": _whole(properties.get("ScalingAdjustment")),
        "cooldown": _whole(properties.get("Cooldown")),
        "target_tracking_config": properties.get("TargetTrackingConfiguration") or {},
        "step_adjustments": properties.get("StepAdjustments") or [],
        "estimated_instance_warmup": properties.get("EstimatedInstanceWarmup"),
        "predictive_scaling_configuration": properties.get("PredictiveScalingConfiguration") or {},
    }
    return backend.put_scaling_policy(**settings).arn


def _whole(value: Any) -> int | None:
    return None if value is None else int(value)
