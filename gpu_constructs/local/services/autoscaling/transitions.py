"""What can happen to one instance of a group: it is launched, waits for hooks, comes into service, warms up, leaves.

The decisions are values in `lifecycle`; which instance goes where is decided in `reconcile`. Here they are carried out
on moto's groups and instances.
"""

from __future__ import annotations

import uuid
from datetime import timedelta

from moto.autoscaling.models import FakeAutoScalingGroup, InstanceState
from moto.core.exceptions import JsonRESTError, ServiceException

from gpu_constructs.local.clock import clock
from gpu_constructs.local.services.autoscaling import targets
from gpu_constructs.local.services.autoscaling.hooks import hooks_of
from gpu_constructs.local.services.autoscaling.launch import run_instance
from gpu_constructs.local.services.autoscaling.lifecycle import LAUNCHING, TERMINATING, Wait, begin
from gpu_constructs.local.services.autoscaling.records import begin_activity, member, record, timestamp

# How long a group leaves EC2 alone after a refused launch.
_RETRY_SECONDS = 60


def launch(group: FakeAutoScalingGroup, cause: str, *, warm: bool = False) -> bool:
    """Launch an instance into the group or its warm pool; False if EC2 refused."""
    activity = begin_activity(group, "Launching a new EC2 instance", cause)
    try:
        instance, source = run_instance(group)
    except (ServiceException, JsonRESTError) as error:
        activity.description += f".  Status Reason: {error.message}"
        activity.finish("Failed", f"{error.message} Launching EC2 instance failed.")
        record(group).no_launch_before = clock.now() + timedelta(seconds=_RETRY_SECONDS)
        return False
    activity.description += f": {instance.id}"
    state = InstanceState(
        instance,
        lifecycle_state="Warmed:Pending" if warm else "Pending",
        protected_from_scale_in=group.new_instances_protected_from_scale_in,
        autoscaling_group=group,
    )
    known = member(state)
    known.activity, known.launch_template = activity, source.described()
    (record(group).warm if warm else group.instance_states).append(state)
    _wait_or_proceed(group, state, LAUNCHING)
    return True


def take_from_pool(group: FakeAutoScalingGroup, state: InstanceState, cause: str) -> None:
    """Bring a warmed instance into the group: it is started and meets the launch hooks again."""
    record(group).warm.remove(state)
    group.instance_states.append(state)
    if not state.instance.is_running():
        state.instance.start()
    state.lifecycle_state = "Pending"
    member(state).activity = begin_activity(
        group, f"Launching a new EC2 instance from warm pool: {state.instance_id}", cause
    )
    _wait_or_proceed(group, state, LAUNCHING)


def return_to_pool(group: FakeAutoScalingGroup, state: InstanceState, cause: str) -> None:
    """Put an instance back into the warm pool instead of terminating it; its terminate hooks run first."""
    targets.leave(group, state)
    group.instance_states.remove(state)
    record(group).warm.append(state)
    state.lifecycle_state = "Warmed:Pending"
    member(state).activity = begin_activity(group, f"Moving EC2 instance to warm pool: {state.instance_id}", cause)
    _wait_or_proceed(group, state, TERMINATING)


def terminate(group: FakeAutoScalingGroup, state: InstanceState, cause: str) -> None:
    """Begin an instance's termination; an instance that never came into service meets no terminate hook."""
    if "Terminating" in state.lifecycle_state:
        return
    _abandon_launch(state)
    activity = begin_activity(group, f"Terminating EC2 instance: {state.instance_id}", cause)
    known = member(state)
    known.activity, known.wait = activity, None
    targets.leave(group, state)
    hooked = state.lifecycle_state in {"InService", "Standby"} or settled(state)
    state.lifecycle_state = "Warmed:Terminating" if state in record(group).warm else "Terminating"
    known.hooked = hooked
    drained(group, state)


def drained(group: FakeAutoScalingGroup, state: InstanceState) -> None:
    """Go on with a termination once the instance answers no request any more: its hooks come after that.

    https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-lifecycle.html
    """
    if state.lifecycle_state not in {"Terminating", "Warmed:Terminating"} or targets.busy(group, state):
        return
    if member(state).hooked:
        _wait_or_proceed(group, state, TERMINATING)
    else:
        remove(group, state)


def remove(group: FakeAutoScalingGroup, state: InstanceState) -> None:
    """The instance is gone, and with it whatever it waited for."""
    targets.leave(group, state)
    if state.instance.state != "terminated":
        state.instance.terminate()
    for states in (group.instance_states, record(group).warm):
        if state in states:
            states.remove(state)
    known = member(state)
    known.wait = None
    if known.activity and known.activity.end_time is None:
        known.activity.finish()


def lost(group: FakeAutoScalingGroup, state: InstanceState) -> None:
    """EC2 has taken the instance (a spot reclaim, TerminateInstances): there is nobody left to wait for."""
    if "Terminating" not in state.lifecycle_state:
        _abandon_launch(state)
        cause = (
            f"At {timestamp()} an instance was taken out of service in response to an EC2 health check indicating it "
            "has been terminated or stopped."
        )
        member(state).activity = begin_activity(group, f"Terminating EC2 instance: {state.instance_id}", cause)
    remove(group, state)


def advance(group: FakeAutoScalingGroup, state: InstanceState, wait: Wait) -> None:
    """Store what has become of an instance's wait, and go on if it is over."""
    known = member(state)
    known.wait = wait
    if wait.outcome is None:
        return
    if wait.outcome == "ABANDON" and "Pending" in state.lifecycle_state:
        _abandon(group, state, wait)
    else:
        _proceed(group, state)


def _wait_or_proceed(group: FakeAutoScalingGroup, state: InstanceState, transition: str) -> None:
    hooks = hooks_of(group, transition)
    if not hooks:
        _proceed(group, state)
        return
    known = member(state)
    known.wait = begin(hooks, clock.now(), lambda: str(uuid.uuid4()))
    state.lifecycle_state += ":Wait"
    if known.activity:
        known.activity.wait()


def _proceed(group: FakeAutoScalingGroup, state: InstanceState) -> None:
    known = member(state)
    known.wait = None
    if "Terminating" in state.lifecycle_state:
        remove(group, state)
        return
    if state.lifecycle_state.startswith("Warmed:"):
        _settle(group, state)
    else:
        state.lifecycle_state = "InService"
        known.in_service_since = clock.now()
        targets.enter(group, state)
    if known.activity:
        known.activity.finish()


def _settle(group: FakeAutoScalingGroup, state: InstanceState) -> None:
    pool_state = group.warm_pool.pool_state if group.warm_pool else "Stopped"
    state.lifecycle_state = f"Warmed:{pool_state}"
    if pool_state != "Running":
        state.instance.stop()


def settled(state: InstanceState) -> bool:
    """Whether an instance is in the warm pool and waits for nothing."""
    return state.lifecycle_state in {"Warmed:Stopped", "Warmed:Running", "Warmed:Hibernated"}


def _abandon(group: FakeAutoScalingGroup, state: InstanceState, wait: Wait) -> None:
    action = wait.abandoned
    why = "Heartbeat Timeout" if action and action.timed_out else "Lifecycle Action Completed with ABANDON Result"
    token = action.token if action else ""
    known = member(state)
    if known.activity:
        known.activity.finish(
            "Failed",
            "Instance failed to complete user's Lifecycle Action: "
            f"Lifecycle Action with token {token} was abandoned: {why}",
        )
    known.activity = None
    terminate(group, state, f"At {timestamp()} an instance was taken out of service in response to a launch failure.")


def _abandon_launch(state: InstanceState) -> None:
    activity = member(state).activity
    if activity and activity.end_time is None:
        activity.finish("Cancelled")
