"""A group's size and health: what AWS does by itself, whenever something has changed or time has passed.

Everything that changes a group ends in `reconcile`; `tick` does the same for all groups, after what time has decided.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, InstanceState, autoscaling_backends

from gpu_constructs.local.clock import clock
from gpu_constructs.local.services import elbv2
from gpu_constructs.local.services.autoscaling import targets, transitions, warm_pool
from gpu_constructs.local.services.autoscaling.capacity import Candidate, chosen_for_scale_in, instances_for
from gpu_constructs.local.services.autoscaling.launch import weight
from gpu_constructs.local.services.autoscaling.records import (
    counted,
    everyone,
    may_launch,
    member,
    suspended,
    timestamp,
)

_EC2_FAILED = "an EC2 health check indicating it has been terminated or stopped"
_ELB_FAILED = "an ELB system health check failure"


def tick(now: datetime) -> None:
    """Do what is due in every group: hooks that timed out, health checks, replacements."""
    for _, _, backend in autoscaling_backends.iter_backends():
        if isinstance(backend, AutoScalingBackend):
            for group in list(backend.autoscaling_groups.values()):
                _expire_hooks(group, now)
                _check_health(group, now)
                reconcile(group)


def resize(group: FakeAutoScalingGroup, desired: int, because: str) -> None:
    """Set the desired capacity and act on it."""
    before = group.desired_capacity
    group.desired_capacity = desired
    reconcile(group, f"At {timestamp()} {because} changing the desired capacity from {before} to {desired}.  ")


def reconcile(group: FakeAutoScalingGroup, because: str = "") -> None:
    """Bring the group to its desired capacity: replace the unhealthy, then scale in or out, then tend the warm pool."""
    _terminate_unhealthy(group)
    surplus = len(counted(group)) - instances_for(group.desired_capacity or 0, weight(group))
    if surplus > 0:
        _scale_in(group, surplus, because)
    elif surplus < 0:
        _scale_out(group, -surplus, because)
    warm_pool.fill(group)
    group.autoscaling_backend.update_attached_elbs(group.name)


def set_desired_capacity(self: FakeAutoScalingGroup, new_capacity: int | None) -> None:
    """Replaces moto's, which counts only InService instances and terminates at once.

    moto calls it while a group is still being made, too: then the size is noted, and nothing launched yet.
    """
    desired = self.min_size if new_capacity is None else new_capacity
    if self.autoscaling_backend.autoscaling_groups.get(self.name) is not self:
        self.desired_capacity = desired
        return
    resize(self, desired or 0, "a user request explicitly set group desired capacity")
    targets.update_attached_target_groups(self.autoscaling_backend, self.name)


def notify_terminate_instances(self: AutoScalingBackend, instance_ids: list[str]) -> None:
    """Replaces moto's: EC2 has terminated instances; those of a group are gone at once, and replaced."""
    for group in list(self.autoscaling_groups.values()):
        lost = [state for state in everyone(group) if state.instance_id in instance_ids]
        for state in lost:
            transitions.lost(group, state)
        if lost:
            reconcile(group)


def _expire_hooks(group: FakeAutoScalingGroup, now: datetime) -> None:
    for state in everyone(group):
        transitions.drained(group, state)
        wait = member(state).wait
        if wait is not None:
            transitions.advance(group, state, wait.expired(now))


def _check_health(group: FakeAutoScalingGroup, now: datetime) -> None:
    if suspended(group, "HealthCheck"):
        return
    for state in everyone(group):
        if state.instance.state == "terminated":
            transitions.lost(group, state)
        elif state.lifecycle_state == "InService" and (failed := _failed_check(group, state, now)):
            state.health_status = "Unhealthy"
            member(state).unhealthy_because = failed


def _failed_check(group: FakeAutoScalingGroup, state: InstanceState, now: datetime) -> str | None:
    if not state.instance.is_running():
        return _EC2_FAILED
    if "ELB" not in group.health_check_type.split(",") or not _grace_period_over(group, state, now):
        return None
    unhealthy = any(
        elbv2.is_unhealthy(target_group, state.instance_id) for target_group in targets.target_groups(group)
    )
    return _ELB_FAILED if unhealthy else None


def _grace_period_over(group: FakeAutoScalingGroup, state: InstanceState, now: datetime) -> bool:
    return member(state).in_service_since + timedelta(seconds=group.health_check_grace_period or 0) <= now


def _terminate_unhealthy(group: FakeAutoScalingGroup) -> None:
    if suspended(group, "ReplaceUnhealthy", "Terminate"):
        return
    for state in everyone(group):
        known = member(state)
        at_rest = state.lifecycle_state == "InService" or transitions.settled(state)
        if not at_rest or state.health_status != "Unhealthy":
            continue
        if known.respects_grace_period and not _grace_period_over(group, state, clock.now()):
            continue
        cause = f"At {timestamp()} an instance was taken out of service in response to {known.unhealthy_because}."
        transitions.terminate(group, state, cause)


def _scale_in(group: FakeAutoScalingGroup, surplus: int, because: str) -> None:
    if suspended(group, "Terminate"):
        return
    candidates = {s.instance_id: s for s in counted(group) if not s.protected_from_scale_in}
    chosen = chosen_for_scale_in([_candidate(s) for s in candidates.values()], surplus, group.termination_policies)
    before = len(counted(group))
    for instance_id in chosen:
        cause = (
            f"{because}At {timestamp()} an instance was taken out of service in response to a difference between "
            f"desired and actual capacity, shrinking the capacity from {before} to {before - len(chosen)}.  "
            f"At {timestamp()} instance {instance_id} was selected for termination."
        )
        state = candidates[instance_id]
        if state.lifecycle_state == "InService" and warm_pool.takes_back(group):
            transitions.return_to_pool(group, state, cause)
        else:
            transitions.terminate(group, state, cause)


def _scale_out(group: FakeAutoScalingGroup, missing: int, because: str) -> None:
    if not may_launch(group):
        return
    before = len(counted(group))
    cause = f"At {timestamp()} an instance was launched in response to an unhealthy instance needing to be replaced."
    if because:
        cause = (
            f"{because}At {timestamp()} an instance was started in response to a difference between desired and actual "
            f"capacity, increasing the capacity from {before} to {before + missing}."
        )
    for _ in range(missing):
        warmed = warm_pool.ready(group)
        if warmed:
            transitions.take_from_pool(group, warmed, cause)
        elif not transitions.launch(group, cause):
            break


def _candidate(state: InstanceState) -> Candidate:
    known = member(state)
    version: Any = (known.launch_template or {}).get("Version", 0)
    return Candidate(state.instance_id, state.availability_zone or "", int(version), known.launched)
