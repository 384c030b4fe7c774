"""Creating, changing and deleting groups: the limits AWS checks, and what moto leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.autoscaling.exceptions import AutoscalingClientError, ValidationError
from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup

from gpu_constructs.local.services.autoscaling import transitions
from gpu_constructs.local.services.autoscaling.reconcile import resize
from gpu_constructs.local.services.autoscaling.records import everyone

_NO_WARMUP = -1

_moto_create = AutoScalingBackend.create_auto_scaling_group
_moto_update = FakeAutoScalingGroup.update


def find_group(backend: AutoScalingBackend, name: str) -> FakeAutoScalingGroup:
    """The group of that name.

    Raises:
        ValidationError: There is none.
    """
    if name not in backend.autoscaling_groups:
        raise ValidationError("AutoScalingGroup name not found - null")
    return backend.autoscaling_groups[name]


def check_size(desired: int, minimum: int, maximum: int) -> None:
    """Check a group's size against its limits.

    Raises:
        ValidationError: The limits cross, or the size is outside of them.
    """
    if minimum > maximum:
        raise ValidationError(f"Max bound, {maximum}, must be greater than or equal to min bound, {minimum}")
    if not minimum <= desired <= maximum:
        raise ValidationError(
            f"Desired capacity:{desired} must be between the specified min size:{minimum} and max size:{maximum}"
        )


def create_auto_scaling_group(self: AutoScalingBackend, name: str, **settings: Any) -> FakeAutoScalingGroup:
    """Wraps moto's: refuses what AWS refuses, and launches only when the group is complete."""
    if name in self.autoscaling_groups:
        raise AutoscalingClientError(
            "AlreadyExists",
            f"AutoScalingGroup by this name already exists - A group with the name {name} already exists",
        )
    minimum, maximum = int(settings.get("min_size") or 0), int(settings.get("max_size") or 0)
    desired = minimum if settings.get("desired_capacity") is None else int(settings["desired_capacity"])
    check_size(desired, minimum, maximum)
    group = _moto_create(self, name, **settings)
    # moto's default is 300 seconds; only the console has that, the API has none.
    group.health_check_grace_period = int(settings.get("health_check_period") or 0)
    group.desired_capacity = 0
    resize(group, desired, "a user request created an AutoScalingGroup")
    return group


def update(self: FakeAutoScalingGroup, **settings: Any) -> None:
    """Wraps moto's: checks the limits first, keeps a mixed instances policy that is not given anew."""
    minimum = self.min_size if settings.get("min_size") is None else settings["min_size"]
    maximum = self.max_size if settings.get("max_size") is None else settings["max_size"]
    minimum, maximum = int(minimum or 0), int(maximum or 0)
    desired = settings.get("desired_capacity")
    if desired is None:
        # Without a new size, the present one is moved only as far as the new limits ask.
        desired = min(max(self.desired_capacity or 0, minimum), maximum)
    check_size(int(desired), minimum, maximum)
    if not settings.get("launch_template") and not settings.get("launch_config_name"):
        settings["mixed_instances_policy"] = settings.get("mixed_instances_policy") or self.mixed_instances_policy
    _moto_update(self, **{**settings, "desired_capacity": int(desired)})


def apply_further_settings(group: FakeAutoScalingGroup, settings: Mapping[str, Any]) -> None:
    """Set what moto's update has no argument for; takes the names of the API."""
    if settings.get("PlacementGroup") is not None:
        group.placement_group = settings["PlacementGroup"] or None
    if settings.get("CapacityRebalance") is not None:
        group.capacity_rebalance = settings["CapacityRebalance"] in {True, "true"}
    if settings.get("TerminationPolicies") is not None:
        group.termination_policies = settings["TerminationPolicies"]
    if settings.get("DefaultCooldown") is not None:
        group.default_cooldown = int(settings["DefaultCooldown"])
    if settings.get("DefaultInstanceWarmup") is not None:
        set_default_warmup(group, settings["DefaultInstanceWarmup"])


def set_default_warmup(group: FakeAutoScalingGroup, seconds: Any) -> None:
    """Set how long an instance's metrics are left out; -1 goes back to none. moto does not know it.

    Raises:
        ValidationError: It is negative, and not -1.
    """
    if int(seconds) < _NO_WARMUP:
        raise ValidationError(f"DefaultInstanceWarmup must be {_NO_WARMUP} or more, got {seconds}")
    warmup = None if int(seconds) == _NO_WARMUP else int(seconds)
    setattr(group, "default_instance_warmup", warmup)  # noqa: B010 - not an attribute of moto's, but read by its answers


def check_deletable(group: FakeAutoScalingGroup) -> None:
    """Refuse to delete a group that has instances, as AWS does without ForceDelete.

    Raises:
        AutoscalingClientError: The group has instances.
    """
    if everyone(group):
        raise AutoscalingClientError(
            "ResourceInUse",
            "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance request(s) still "
            "in the group.",
        )


def delete_auto_scaling_group(self: AutoScalingBackend, group_name: str) -> None:
    """Replaces moto's: everything of the group goes at once, without waiting for a hook."""
    if group_name not in self.autoscaling_groups:
        raise ValidationError(f"AutoScalingGroup name not found - AutoScalingGroup '{group_name}' not found")
    group = self.autoscaling_groups.pop(group_name)
    for state in everyone(group):
        transitions.remove(group, state)
    for hook in self.describe_lifecycle_hooks(group_name):
        self.delete_lifecycle_hook(group_name, hook.name)
    for policy in self.describe_policies(group_name):
        self.delete_policy(policy.name)
