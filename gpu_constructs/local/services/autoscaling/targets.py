"""A group's instances in its target groups: in when they come into service, out first when they leave."""

from __future__ import annotations

from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, InstanceState
from moto.elbv2.models import FakeTargetGroup

from gpu_constructs.local.services.autoscaling.records import member, suspended
from gpu_constructs.local.services.elbv2 import in_flight


def target_groups(group: FakeAutoScalingGroup) -> list[FakeTargetGroup]:
    """The attached target groups that (still) exist."""
    known = group.autoscaling_backend.elbv2_backend.target_groups
    return [known[arn] for arn in group.target_group_arns if arn in known]


def enter(group: FakeAutoScalingGroup, state: InstanceState) -> None:
    """Register an instance that has come into service, unless AddToLoadBalancer is suspended."""
    member(state).in_load_balancer = not suspended(group, "AddToLoadBalancer")
    _register(group, state)


def leave(group: FakeAutoScalingGroup, state: InstanceState) -> None:
    """Deregister an instance.

    Where no request is in flight, deregistration is complete at once and the instance need not wait for it; the target
    is still described as draining until the deregistration delay has passed, as AWS does.
    """
    for target_group in target_groups(group):
        if state.instance_id in target_group.targets:
            target_group.deregister([{"Id": state.instance_id}])


def busy(group: FakeAutoScalingGroup, state: InstanceState) -> bool:
    """Whether an instance that has left still answers requests, within the deregistration delay."""
    return any(in_flight(target_group, state.instance_id) for target_group in target_groups(group))


def update_attached_target_groups(self: AutoScalingBackend, group_name: str) -> None:
    """Replaces moto's, which registers every instance whatever its state."""
    group = self.autoscaling_groups[group_name]
    for state in group.instance_states:
        if state.lifecycle_state == "InService":
            _register(group, state)
        else:
            leave(group, state)


def _register(group: FakeAutoScalingGroup, state: InstanceState) -> None:
    if not member(state).in_load_balancer or not state.instance.is_running():
        return
    for target_group in target_groups(group):
        if state.instance_id not in target_group.targets:
            target_group.register([{"Id": state.instance_id, "Port": target_group.port}])
