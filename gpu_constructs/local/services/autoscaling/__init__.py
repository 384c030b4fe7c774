"""Auto Scaling as it behaves: lifecycle hooks, warm pools, health, suspended processes, in-place stack updates.

Read `lifecycle` (what an instance waits for) and `reconcile` (what a group does by itself) first.
"""

from __future__ import annotations

from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, InstanceState
from moto.autoscaling.responses import AutoScalingResponse

from gpu_constructs.local.extend import add_method, replace_method
from gpu_constructs.local.services.autoscaling import (
    group_resource,
    groups,
    operations,
    policies,
    reconcile,
    targets,
)
from gpu_constructs.local.services.autoscaling import resources as _types  # noqa: F401 - found by their names once imported
from gpu_constructs.local.services.autoscaling.reconcile import tick
from gpu_constructs.local.services.autoscaling.records import member, record

__all__ = ["install", "tick"]

_moto_launch_template = InstanceState.launch_template


def _launch_template(self: InstanceState) -> object:
    """The version the instance was launched from, not today's default."""
    return member(self).launch_template or _moto_launch_template.__get__(self)


def _warm_pool_size(self: FakeAutoScalingGroup) -> int | None:
    return len(record(self).warm) if self.warm_pool else None


_WARM_POOL_SIZE = property(_warm_pool_size)


def install() -> None:
    """Put everything in place; may be called again."""
    for operation in operations.REPLACED:
        replace_method(AutoScalingResponse, operation)
    for operation in operations.ADDED:
        add_method(AutoScalingResponse, operation)
    replace_method(AutoScalingBackend, groups.create_auto_scaling_group)
    replace_method(AutoScalingBackend, groups.delete_auto_scaling_group)
    replace_method(AutoScalingBackend, operations.describe_auto_scaling_instances)
    replace_method(AutoScalingBackend, reconcile.notify_terminate_instances)
    replace_method(AutoScalingBackend, targets.update_attached_target_groups)
    replace_method(FakeAutoScalingGroup, groups.update)
    replace_method(FakeAutoScalingGroup, reconcile.set_desired_capacity)
    replace_method(InstanceState, property(_launch_template), "launch_template")
    add_method(FakeAutoScalingGroup, _WARM_POOL_SIZE, "warm_pool_size")
    group_resource.install()
    policies.install()
