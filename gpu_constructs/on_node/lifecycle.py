"""The node and its Auto Scaling group: what it is to do, the hooks that it completes, how it says that it is broken.

See https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-lifecycle.html and, for warm pools,
https://docs.aws.amazon.com/autoscaling/ec2/userguide/warm-pool-instance-lifecycle.html
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal

from gpu_constructs.on_node.aws import PATIENT, Patience

Result = Literal["CONTINUE", "ABANDON"]

LAUNCHING: Final = "autoscaling:EC2_INSTANCE_LAUNCHING"
TERMINATING: Final = "autoscaling:EC2_INSTANCE_TERMINATING"

_NO_ACTION = "No active Lifecycle Action found"


class Duty(Enum):
    """What a node is to do."""

    SERVE = "become ready, complete the launch hook, and serve"
    PREPARE = "become ready, complete the hook, and serve nothing: the instance goes into the warm pool"
    LEAVE = "save what is to be saved, serve no more, complete the termination hook"
    NOTHING = "start nothing and stop nothing: people have taken the instance aside"


DUTIES: Final[Mapping[str, Duty]] = {
    "Pending": Duty.SERVE,
    "Pending:Wait": Duty.SERVE,
    "Pending:Proceed": Duty.SERVE,
    "Quarantined": Duty.NOTHING,  # AWS: not used
    "InService": Duty.SERVE,
    "Terminating": Duty.LEAVE,
    "Terminating:Wait": Duty.LEAVE,
    "Terminating:Proceed": Duty.LEAVE,
    # Its termination hook was abandoned, and the group keeps such instances for people to look at:
    # https://docs.aws.amazon.com/autoscaling/ec2/userguide/configure-instance-retention.html
    "Terminating:Retained": Duty.NOTHING,
    "Terminated": Duty.LEAVE,
    "Detaching": Duty.NOTHING,
    "Detached": Duty.NOTHING,
    "EnteringStandby": Duty.NOTHING,
    "Standby": Duty.NOTHING,
    # The machine stays and its root volume goes, with all that runs from it:
    # https://docs.aws.amazon.com/autoscaling/ec2/userguide/replace-root-volume.html
    "ReplacingRootVolume": Duty.LEAVE,
    "ReplacingRootVolume:Wait": Duty.LEAVE,
    "ReplacingRootVolume:Proceed": Duty.LEAVE,
    "RootVolumeReplaced": Duty.SERVE,
    "Warmed:Pending": Duty.PREPARE,
    "Warmed:Pending:Wait": Duty.PREPARE,
    "Warmed:Pending:Proceed": Duty.PREPARE,
    "Warmed:Pending:Retained": Duty.NOTHING,
    "Warmed:Terminating": Duty.LEAVE,
    "Warmed:Terminating:Wait": Duty.LEAVE,
    "Warmed:Terminating:Proceed": Duty.LEAVE,
    "Warmed:Terminating:Retained": Duty.NOTHING,
    "Warmed:Terminated": Duty.LEAVE,
    "Warmed:Stopped": Duty.PREPARE,
    "Warmed:Running": Duty.PREPARE,
    "Warmed:Hibernated": Duty.PREPARE,
}
"""What a node is to do in each state that Auto Scaling has; target states are among them."""

WAITS: Final[Mapping[str, tuple[str, ...]]] = {
    "Pending:Wait": (LAUNCHING,),
    # Launch hooks on the way in from EC2; termination hooks on the way back, where the pool takes instances back.
    "Warmed:Pending:Wait": (LAUNCHING, TERMINATING),
    "Terminating:Wait": (TERMINATING,),
    "Warmed:Terminating:Wait": (TERMINATING,),
}
"""Which hooks may hold an instance, by state."""

_BEFORE_THE_WAIT = frozenset({"Pending", "Warmed:Pending", "Terminating", "Warmed:Terminating"})


def duty(lifecycle_state: str | None, target_lifecycle_state: str | None = None) -> Duty:
    """Say what a node is to do.

    Who leaves never comes back, so that either of the two is believed. Else an instance that waits for a hook does what
    the hook is for. Else the target counts: the instance is told of it before the API shows the change, and a machine
    that runs does not stay Warmed:Stopped.

    Args:
        lifecycle_state: What the API says; None if it does not know the instance.
        target_lifecycle_state: What IMDS says, None if it does not: "InService", "Terminated", "Warmed:Stopped", ...
            https://docs.aws.amazon.com/autoscaling/ec2/userguide/retrieving-target-lifecycle-state-through-imds.html
    """
    said = [DUTIES.get(state, Duty.NOTHING) for state in (target_lifecycle_state, lifecycle_state) if state]
    if Duty.LEAVE in said:
        return Duty.LEAVE
    if lifecycle_state is not None and lifecycle_state in WAITS:
        return DUTIES[lifecycle_state]
    return said[0] if said else Duty.NOTHING


@dataclass(frozen=True, kw_only=True)
class Membership:
    """The place of a node in its group.

    Args:
        group: The name of the group.
        state: Its lifecycle state.
        health: "Healthy" or "Unhealthy".
    """

    group: str
    state: str
    health: str


def membership(autoscaling: Any, instance_id: str, patience: Patience = PATIENT) -> Membership | None:
    """Return the place of a node in its group, None if it is in none.

    The API may learn of an instance only after it has started, so None is believed after the last try. Throttling and
    errors on AWS's side are tried again, too; the last one is raised.
    """
    return patience.insist(lambda: _membership(autoscaling, instance_id), lambda found: found is not None)


def _membership(autoscaling: Any, instance_id: str) -> Membership | None:
    found = autoscaling.describe_auto_scaling_instances(InstanceIds=[instance_id])["AutoScalingInstances"]
    if not found:
        return None
    [one] = found
    return Membership(
        group=one["AutoScalingGroupName"],
        state=one["LifecycleState"],
        health=one["HealthStatus"].capitalize(),  # this operation says HEALTHY, others Healthy
    )


class Completion(Enum):
    """What came of completing a lifecycle action."""

    DONE = "the instance waited for it, and goes on"
    OVER = (
        "the instance waits for it no more: it was completed before, its time was over, or EC2 has taken the instance"
    )
    NOT_YET = "the instance has not come to wait for it"


@dataclass(frozen=True, kw_only=True)
class Hooks:
    """The lifecycle hooks that hold a node.

    Args:
        autoscaling: A boto3 client.
        group: The name of its group.
        instance_id: Its id.
        patience: How often a call is tried.
    """

    autoscaling: Any
    group: str
    instance_id: str
    patience: Patience = PATIENT

    def complete(self, hook: str, result: Result) -> Completion:
        """Have the instance go on, or be replaced; told by its id, which takes no token.

        A node may be faster than its group: while that has not come to wait for the hook, it is tried again.
        """
        return self.patience.insist(
            lambda: self._complete(hook, result), lambda completion: completion is not Completion.NOT_YET
        )

    def heartbeat(self, hook: str) -> bool:
        """Start the time of a hook anew; False if the instance does not wait for it.

        The hook ends all the same after 100 times its timeout, or two days:
        https://docs.aws.amazon.com/autoscaling/ec2/userguide/lifecycle-hooks-overview.html
        """
        try:
            self.autoscaling.record_lifecycle_action_heartbeat(**self._action(hook))
        except Exception as error:
            if _NO_ACTION in str(error):
                return False
            raise
        return True

    def _complete(self, hook: str, result: Result) -> Completion:
        try:
            self.autoscaling.complete_lifecycle_action(**self._action(hook), LifecycleActionResult=result)
        except Exception as error:
            if _NO_ACTION not in str(error):
                raise
        else:
            return Completion.DONE
        found = _membership(self.autoscaling, self.instance_id)
        return Completion.NOT_YET if found is None or found.state in _BEFORE_THE_WAIT else Completion.OVER

    def _action(self, hook: str) -> dict[str, str]:
        return {"AutoScalingGroupName": self.group, "LifecycleHookName": hook, "InstanceId": self.instance_id}


def set_unhealthy(autoscaling: Any, instance_id: str, patience: Patience = PATIENT) -> None:
    """Have a node replaced that is broken after it went into service: at once, for the grace period is for the boot."""
    patience.insist(
        lambda: autoscaling.set_instance_health(
            InstanceId=instance_id, HealthStatus="Unhealthy", ShouldRespectGracePeriod=False
        )
    )
