"""AWS::AutoScaling::AutoScalingGroup: hooks before the first launch, and updates that leave the instances alone.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-autoscaling-autoscalinggroup.html
"""

from __future__ import annotations

from typing import Any

from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, autoscaling_backends

from gpu_constructs.local.extend import add_method, replace_method
from gpu_constructs.local.services.autoscaling.groups import apply_further_settings, set_default_warmup
from gpu_constructs.local.services.autoscaling.hooks import inline_hooks, put_hook
from gpu_constructs.local.services.autoscaling.records import record
from gpu_constructs.local.services.autoscaling.rolling import roll
from gpu_constructs.local.services.cloudformation import whole_number
from gpu_constructs.local.services.cloudformation.progress import settles

_NAME, _HOOKS = "AutoScalingGroupName", "LifecycleHookSpecificationList"
# A collection that names none has all: https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-metrics.html
_GROUP_METRICS = (
    "GroupMinSize",
    "GroupMaxSize",
    "GroupDesiredCapacity",
    "GroupInServiceInstances",
    "GroupPendingInstances",
    "GroupStandbyInstances",
    "GroupTerminatingInstances",
    "GroupTotalInstances",
    "GroupInServiceCapacity",
    "GroupPendingCapacity",
    "GroupStandbyCapacity",
    "GroupTerminatingCapacity",
    "GroupTotalCapacity",
    "WarmPoolDesiredCapacity",
    "WarmPoolWarmedCapacity",
    "WarmPoolPendingCapacity",
    "WarmPoolTerminatingCapacity",
    "WarmPoolTotalCapacity",
    "GroupAndWarmPoolDesiredCapacity",
    "GroupAndWarmPoolTotalCapacity",
)
_ATTRIBUTES = {"AutoScalingGroupARN": "arn", "AutoScalingGroupName": "name"}


def install() -> None:
    """Replace how moto creates and updates the resource."""
    replace_method(FakeAutoScalingGroup, classmethod(_create), "create_from_cloudformation_json")
    replace_method(FakeAutoScalingGroup, classmethod(_update), "update_from_cloudformation_json")
    replace_method(FakeAutoScalingGroup, classmethod(_has_cfn_attr), "has_cfn_attr")
    settles("AWS::AutoScaling::AutoScalingGroup", roll)
    add_method(FakeAutoScalingGroup, get_cfn_attribute)  # moto's group has no attributes at all


def _create(
    cls: type[FakeAutoScalingGroup],
    /,
    resource_name: str,
    cloudformation_json: dict[str, Any],
    account_id: str,
    region_name: str,
    **kwargs: Any,
) -> FakeAutoScalingGroup:
    backend = autoscaling_backends[account_id][region_name]
    properties = cloudformation_json["Properties"]
    with inline_hooks(backend, resource_name, properties.get(_HOOKS) or []):
        group = backend.create_auto_scaling_group(
            name=resource_name,
            availability_zones=properties.get("AvailabilityZones") or [],
            desired_capacity=whole_number(properties.get("DesiredCapacity")),
            max_size=whole_number(properties.get("MaxSize")),
            min_size=whole_number(properties.get("MinSize")),
            launch_config_name=properties.get("LaunchConfigurationName"),
            launch_template=properties.get("LaunchTemplate") or {},
            mixed_instances_policy=properties.get("MixedInstancesPolicy") or {},
            vpc_zone_identifier=",".join(properties.get("VPCZoneIdentifier") or []) or None,
            default_cooldown=whole_number(properties.get("Cooldown")),
            health_check_period=whole_number(properties.get("HealthCheckGracePeriod")),
            health_check_type=properties.get("HealthCheckType"),
            load_balancers=list(properties.get("LoadBalancerNames") or []),
            target_group_arns=list(properties.get("TargetGroupARNs") or []),
            placement_group=properties.get("PlacementGroup"),
            termination_policies=list(properties.get("TerminationPolicies") or []),
            tags=list(properties.get("Tags") or []),
            capacity_rebalance=_yes(properties.get("CapacityRebalance")),
            new_instances_protected_from_scale_in=_yes(properties.get("NewInstancesProtectedFromScaleIn")),
        )
    set_default_warmup(group, properties.get("DefaultInstanceWarmup", -1))
    _enable_metrics(group, properties)
    record(group).applied_properties = dict(properties)
    return group


def _update(
    cls: type[FakeAutoScalingGroup],
    /,
    original_resource: FakeAutoScalingGroup,
    new_resource_name: str,
    cloudformation_json: dict[str, Any],
    account_id: str,
    region_name: str,
) -> FakeAutoScalingGroup:
    backend, group = autoscaling_backends[account_id][region_name], original_resource
    properties, before = cloudformation_json["Properties"], record(group).applied_properties
    if properties.get(_NAME) != before.get(_NAME):
        replacement = cls.create_from_cloudformation_json(
            new_resource_name, cloudformation_json, account_id, region_name
        )
        backend.delete_auto_scaling_group(group.name)
        return replacement
    _update_hooks(backend, group.name, properties, before)
    _update_attachments(backend, group, properties, before)
    # What the template no longer says goes back to its default.
    defaults = {
        "PlacementGroup": "",
        "CapacityRebalance": False,
        "TerminationPolicies": ["Default"],
        "DefaultInstanceWarmup": -1,
    }
    apply_further_settings(group, {**defaults, **properties, "DefaultCooldown": properties.get("Cooldown")})
    _enable_metrics(group, properties)
    group.tags = list(properties.get("Tags") or [])
    group.update(
        availability_zones=properties.get("AvailabilityZones") or [],
        desired_capacity=_desired(group, properties, before),
        max_size=whole_number(properties.get("MaxSize")),
        min_size=whole_number(properties.get("MinSize")),
        launch_config_name=properties.get("LaunchConfigurationName") or "",
        launch_template=properties.get("LaunchTemplate") or {},
        vpc_zone_identifier=",".join(properties.get("VPCZoneIdentifier") or []),
        health_check_period=whole_number(properties.get("HealthCheckGracePeriod")) or 0,
        health_check_type=properties.get("HealthCheckType") or "EC2",
        new_instances_protected_from_scale_in=_yes(properties.get("NewInstancesProtectedFromScaleIn")),
        mixed_instances_policy=properties.get("MixedInstancesPolicy"),
    )
    record(group).applied_properties = dict(properties)
    return group


def _desired(group: FakeAutoScalingGroup, properties: dict[str, Any], before: dict[str, Any]) -> int | None:
    """The template's size only where the template changed it: else the size that scaling has given the group stays.

    The limits move it when they have to.
    """
    asked = whole_number(properties.get("DesiredCapacity"))
    if asked is not None and asked != whole_number(before.get("DesiredCapacity")):
        return asked
    return None


def _update_hooks(
    backend: AutoScalingBackend, group_name: str, properties: dict[str, Any], before: dict[str, Any]
) -> None:
    new = properties.get(_HOOKS) or []

    for hook in before.get(_HOOKS) or []:
        # Put anew, because what a template no longer says goes back to its default.
        backend.delete_lifecycle_hook(group_name, hook["LifecycleHookName"])
    for hook in new:
        put_hook(backend, group_name, hook)


def _update_attachments(
    backend: AutoScalingBackend, group: FakeAutoScalingGroup, properties: dict[str, Any], before: dict[str, Any]
) -> None:
    old, new = before.get("TargetGroupARNs") or [], properties.get("TargetGroupARNs") or []
    gone = [arn for arn in old if arn not in new]
    for arn in gone:
        target_group = backend.elbv2_backend.target_groups.get(arn)
        ids = [state.instance_id for state in group.instance_states]
        if target_group:
            target_group.deregister([{"Id": i} for i in ids if i in target_group.targets])
    group.target_group_arns = [arn for arn in group.target_group_arns if arn not in gone]
    backend.attach_load_balancer_target_groups(group.name, new)


def _enable_metrics(group: FakeAutoScalingGroup, properties: dict[str, Any]) -> None:
    collections = properties.get("MetricsCollection") or []
    named = [metric for entry in collections for metric in entry.get("Metrics") or _GROUP_METRICS]
    group.enable_metrics_collection(list(dict.fromkeys(named)))


def _has_cfn_attr(cls: type[FakeAutoScalingGroup], attr: str) -> bool:
    return attr in _ATTRIBUTES


def get_cfn_attribute(self: FakeAutoScalingGroup, attribute_name: str) -> str:
    """What `Fn::GetAtt` gives: the ARN and the name."""
    return str(getattr(self, _ATTRIBUTES[attribute_name]))


def _yes(value: Any) -> bool:
    return value in {True, "true"}
