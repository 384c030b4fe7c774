"""What the local AWS knows about a group and its instances beyond moto's own objects.

Kept beside moto's objects, not on them, and gone when they are (a reset of moto forgets everything here, too).
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

from moto.autoscaling.models import FakeAutoScalingGroup, InstanceState

from gpu_constructs.local.clock import clock
from gpu_constructs.local.services.autoscaling.lifecycle import COUNTED_STATES, Wait


@dataclass
class ScalingActivity:
    """One entry of DescribeScalingActivities, in the words AWS uses."""

    auto_scaling_group_name: str
    auto_scaling_group_arn: str
    description: str
    cause: str
    status_code: str = "InProgress"
    status_message: str | None = None
    progress: int = 50
    details: str = "{}"
    end_time: datetime | None = None
    start_time: datetime = field(default_factory=clock.now)
    activity_id: str = field(default_factory=lambda: str(uuid.uuid4()))

    def wait(self) -> None:
        """The instance now waits for a lifecycle hook."""
        self.status_code = "MidLifecycleAction"

    def finish(self, status_code: str = "Successful", message: str | None = None) -> None:
        """The activity is over."""
        self.status_code, self.status_message = status_code, message
        self.progress, self.end_time = 100, clock.now()


@dataclass
class Member:
    """An instance of a group: what it waits for, what it was launched from, why it is to go."""

    wait: Wait | None = None
    activity: ScalingActivity | None = None
    launch_template: dict[str, str] | None = None
    launched: datetime = field(default_factory=clock.now)
    in_service_since: datetime = field(default_factory=clock.now)
    # False when it came into service while AddToLoadBalancer was suspended: it is never added later.
    in_load_balancer: bool = True
    unhealthy_because: str = "a user health-check"
    respects_grace_period: bool = False
    # Whether its termination meets hooks, noted while its targets are drained.
    hooked: bool = False


@dataclass
class GroupRecord:
    """A group's warm pool, its activities (newest last), and the template properties last applied to it."""

    warm: list[InstanceState] = field(default_factory=list)
    activities: list[ScalingActivity] = field(default_factory=list)
    applied_properties: dict[str, Any] = field(default_factory=dict)
    no_launch_before: datetime | None = None


_members: WeakKeyDictionary[InstanceState, Member] = WeakKeyDictionary()
_groups: WeakKeyDictionary[FakeAutoScalingGroup, GroupRecord] = WeakKeyDictionary()


def member(state: InstanceState) -> Member:
    """What is known about an instance; made on first sight (an attached instance was not launched here)."""
    return _members.setdefault(state, Member())


def record(group: FakeAutoScalingGroup) -> GroupRecord:
    """What is known about a group."""
    return _groups.setdefault(group, GroupRecord())


def everyone(group: FakeAutoScalingGroup) -> list[InstanceState]:
    """The group's instances and those of its warm pool."""
    return [*group.instance_states, *record(group).warm]


def counted(group: FakeAutoScalingGroup) -> list[InstanceState]:
    """The instances that count towards desired capacity."""
    return [state for state in group.instance_states if state.lifecycle_state in COUNTED_STATES]


def suspended(group: FakeAutoScalingGroup, *processes: str) -> bool:
    """Whether one of these processes is suspended."""
    return any(entry["ProcessName"] in processes for entry in group.suspended_processes)


def may_launch(group: FakeAutoScalingGroup) -> bool:
    """Whether the group launches instances now: not while that is suspended, nor just after EC2 refused one."""
    blocked = record(group).no_launch_before
    return not suspended(group, "Launch") and (blocked is None or blocked <= clock.now())


def timestamp() -> str:
    """Now, as it is written in the cause of an activity."""
    return clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def begin_activity(group: FakeAutoScalingGroup, description: str, cause: str) -> ScalingActivity:
    """Note that something begins."""
    activity = ScalingActivity(group.name, group.arn, description, cause)
    record(group).activities.append(activity)
    return activity
