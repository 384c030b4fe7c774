"""API operations that moto lacks or that do more here: hooks, actions, sizes, health, warm pools, activities."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moto.autoscaling.exceptions import ValidationError
from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, FakeScalingPolicy, InstanceState
from moto.autoscaling.responses import AutoScalingResponse
from moto.core.responses import ActionResult, EmptyResult

from gpu_constructs.local.clock import clock
from gpu_constructs.local.services.autoscaling import transitions, warm_pool
from gpu_constructs.local.services.autoscaling.capacity import adjusted_capacity, step_adjustment
from gpu_constructs.local.services.autoscaling.groups import (
    apply_further_settings,
    check_deletable,
    find_group,
    set_default_warmup,
)
from gpu_constructs.local.services.autoscaling.hooks import checked_result, inline_hooks, put_hook
from gpu_constructs.local.services.autoscaling.lifecycle import Action, Wait
from gpu_constructs.local.services.autoscaling.reconcile import reconcile, resize
from gpu_constructs.local.services.autoscaling.records import ScalingActivity, everyone, member, record, timestamp

_moto_create_group = AutoScalingResponse.create_auto_scaling_group
_moto_update_group = AutoScalingResponse.update_auto_scaling_group


def _group(response: AutoScalingResponse) -> FakeAutoScalingGroup:
    return find_group(response.autoscaling_backend, response._get_param("AutoScalingGroupName"))


def _managed(backend: AutoScalingBackend, instance_id: str) -> tuple[FakeAutoScalingGroup, InstanceState]:
    for group in backend.autoscaling_groups.values():
        for state in everyone(group):
            if state.instance_id == instance_id:
                return group, state
    raise ValidationError(f"Instance Id not found - No managed instance found for instance ID: {instance_id}")


# Groups


def create_auto_scaling_group(self: AutoScalingResponse) -> ActionResult:
    """With the hooks that come with the group in place before its first instance."""
    name = self._get_param("AutoScalingGroupName")
    with inline_hooks(self.autoscaling_backend, name, self._get_param("LifecycleHookSpecificationList", [])):
        answer = _moto_create_group(self)
    if self._get_param("DefaultInstanceWarmup") is not None:
        set_default_warmup(_group(self), self._get_param("DefaultInstanceWarmup"))
    return answer


def update_auto_scaling_group(self: AutoScalingResponse) -> ActionResult:
    """With the settings that moto's leaves out."""
    apply_further_settings(_group(self), self._get_params())
    return _moto_update_group(self)


def delete_auto_scaling_group(self: AutoScalingResponse) -> ActionResult:
    """With ForceDelete, or an empty group."""
    name = self._get_param("AutoScalingGroupName")
    group = self.autoscaling_backend.autoscaling_groups.get(name)
    if group and not self._get_bool_param("ForceDelete", False):
        check_deletable(group)
    self.autoscaling_backend.delete_auto_scaling_group(name)
    return EmptyResult()


def set_desired_capacity(self: AutoScalingResponse) -> ActionResult:
    """Within the group's limits."""
    group, desired = _group(self), int(self._get_param("DesiredCapacity"))
    for limit, value, outside in (
        ("below min", group.min_size or 0, desired < (group.min_size or 0)),
        ("above max", group.max_size or 0, desired > (group.max_size or 0)),
    ):
        if outside:
            raise ValidationError(
                f"New SetDesiredCapacity value {desired} is {limit} value {value} for the AutoScalingGroup."
            )
    group.set_desired_capacity(desired)
    return EmptyResult()


def execute_policy(self: AutoScalingResponse) -> ActionResult:
    """Simple and step policies; what they ask for is brought within the group's limits."""
    policy = _policy(self)
    group = find_group(self.autoscaling_backend, policy.auto_scaling_group_name)
    adjustment = policy.scaling_adjustment
    if policy.policy_type == "StepScaling":
        breach = float(self._get_param("MetricValue")) - float(self._get_param("BreachThreshold"))
        adjustment = step_adjustment(policy.step_adjustments, breach)  # type: ignore[arg-type]  # moto: a list
    if adjustment is None:
        return EmptyResult()
    wanted = adjusted_capacity(
        group.desired_capacity or 0, policy.adjustment_type, int(adjustment), int(policy.min_adjustment_magnitude or 0)
    )
    desired = min(max(wanted, group.min_size or 0), group.max_size or 0)
    resize(group, desired, f"a user request executed policy {policy.name}")
    return EmptyResult()


def _policy(response: AutoScalingResponse) -> FakeScalingPolicy:
    asked = response._get_param("PolicyName")
    for policy in response.autoscaling_backend.policies.values():
        if asked in {policy.name, policy.arn}:
            return policy
    raise ValidationError(f"ScalingPolicy name not found - no policy found for name or ARN: {asked}")


# Instances


def terminate_instance_in_auto_scaling_group(self: AutoScalingResponse) -> ActionResult:
    """Through the terminate hooks; the capacity shrinks or the instance is replaced, as asked."""
    group, state = _managed(self.autoscaling_backend, self._get_param("InstanceId"))
    desired = group.desired_capacity or 0
    cause = f"At {timestamp()} instance {state.instance_id} was taken out of service in response to a user request"
    if self._get_bool_param("ShouldDecrementDesiredCapacity", False):
        if desired - 1 < (group.min_size or 0):
            raise ValidationError(
                f"Currently, desiredSize equals minSize ({group.min_size}). Terminating instance without replacement "
                "will violate group's min size constraint. "
                "Either set shouldDecrementDesiredCapacity flag to false or lower group's min size."
            )
        group.desired_capacity = desired - 1
        cause += f", shrinking the capacity from {desired} to {desired - 1}"
    transitions.terminate(group, state, f"{cause}.")
    reconcile(group)
    return ActionResult({"Activity": member(state).activity})


def set_instance_health(self: AutoScalingResponse) -> ActionResult:
    """Unhealthy instances are replaced at once, or when their grace period is over if that is to be respected."""
    group, state = _managed(self.autoscaling_backend, self._get_param("InstanceId"))
    status = self._get_param("HealthStatus")
    if status not in {"Healthy", "Unhealthy"}:
        raise ValidationError("Valid instance health states are: [Healthy, Unhealthy].")
    known = member(state)
    known.respects_grace_period = self._get_bool_param("ShouldRespectGracePeriod", True)
    known.unhealthy_because = "a user health-check"
    state.health_status = status
    reconcile(group)
    return EmptyResult()


def describe_auto_scaling_instances(self: AutoScalingBackend, instance_ids: list[str]) -> list[InstanceState]:
    """Those of warm pools, too."""
    states = [state for group in self.autoscaling_groups.values() for state in everyone(group)]
    return [state for state in states if not instance_ids or state.instance_id in instance_ids]


# Lifecycle hooks and actions


def put_lifecycle_hook(self: AutoScalingResponse) -> ActionResult:
    """Everything that is given is kept."""
    put_hook(self.autoscaling_backend, _group(self).name, self._get_params())
    return EmptyResult()


def delete_lifecycle_hook(self: AutoScalingResponse) -> ActionResult:
    """Outstanding actions are completed first: ABANDON for launching instances, CONTINUE for terminating ones."""
    group, name = _group(self), self._get_param("LifecycleHookName")
    if not self.autoscaling_backend.describe_lifecycle_hooks(group.name, [name]):
        raise ValidationError(f"No Lifecycle Hook found with name {name}")
    self.autoscaling_backend.delete_lifecycle_hook(group.name, name)
    for state in everyone(group):
        wait = member(state).wait
        action = wait.find(name) if wait else None
        if wait and action:
            result = checked_result("CONTINUE" if "Terminating" in state.lifecycle_state else "ABANDON", "result")
            transitions.advance(group, state, wait.completed(action, result))
    reconcile(group)
    return EmptyResult()


def complete_lifecycle_action(self: AutoScalingResponse) -> ActionResult:
    """By instance id or by token."""
    result = checked_result(self._get_param("LifecycleActionResult"), "LifecycleActionResult")
    group, state, wait, action = _active_action(self)
    transitions.advance(group, state, wait.completed(action, result))
    reconcile(group)
    return EmptyResult()


def record_lifecycle_action_heartbeat(self: AutoScalingResponse) -> ActionResult:
    """By instance id or by token."""
    group, state, wait, action = _active_action(self)
    transitions.advance(group, state, wait.extended(action, clock.now()))
    return EmptyResult()


def _active_action(response: AutoScalingResponse) -> tuple[FakeAutoScalingGroup, InstanceState, Wait, Action]:
    group, hook = _group(response), response._get_param("LifecycleHookName")
    if not response.autoscaling_backend.describe_lifecycle_hooks(group.name, [hook]):
        raise ValidationError(f"No Lifecycle Hook found with name {hook} for Auto Scaling group {group.name}")
    token, instance_id = response._get_param("LifecycleActionToken"), response._get_param("InstanceId")
    if not token and not instance_id:
        raise ValidationError("Valid requests must contain either InstanceId or LifecycleActionToken parameter.")
    for state in everyone(group):
        wait = member(state).wait
        if wait is None or (instance_id and state.instance_id != instance_id):
            continue
        action = wait.find(hook, token)
        if action:
            return group, state, wait, action
    searched = f"token {token}" if token else f"instance ID {instance_id}"
    raise ValidationError(f"No active Lifecycle Action found with {searched}")


# Warm pools


def put_warm_pool(self: AutoScalingResponse) -> ActionResult:
    """And fill it."""
    warm_pool.put(_group(self), self._get_params())
    return EmptyResult()


def describe_warm_pool(self: AutoScalingResponse) -> ActionResult:
    """With its instances."""
    group = _group(self)
    return ActionResult({"WarmPoolConfiguration": group.warm_pool, "Instances": list(record(group).warm)})


def delete_warm_pool(self: AutoScalingResponse) -> ActionResult:
    """With ForceDelete at once."""
    warm_pool.delete(_group(self), force=self._get_bool_param("ForceDelete", False))
    return EmptyResult()


# Activities


def describe_scaling_activities(self: AutoScalingResponse) -> ActionResult:
    """Newest first; of one group, or of all."""
    name, wanted = self._get_param("AutoScalingGroupName"), self._get_param("ActivityIds", [])
    groups = [_group(self)] if name else list(self.autoscaling_backend.autoscaling_groups.values())
    activities: list[ScalingActivity] = [
        activity for group in groups for activity in reversed(record(group).activities)
    ]
    activities.sort(key=lambda activity: activity.start_time, reverse=True)
    most = self._get_int_param("MaxRecords") or 100
    return ActionResult({"Activities": [a for a in activities if not wanted or a.activity_id in wanted][:most]})


REPLACED: tuple[Callable[..., Any], ...] = (
    create_auto_scaling_group,
    update_auto_scaling_group,
    delete_auto_scaling_group,
    set_desired_capacity,
    execute_policy,
    terminate_instance_in_auto_scaling_group,
    set_instance_health,
    put_lifecycle_hook,
    delete_lifecycle_hook,
    put_warm_pool,
    describe_warm_pool,
    delete_warm_pool,
    describe_scaling_activities,
)
ADDED: tuple[Callable[..., Any], ...] = (complete_lifecycle_action, record_lifecycle_action_heartbeat)
