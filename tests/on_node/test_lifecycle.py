"""What a node is to do in each state, and how it completes its hooks."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from mypy_boto3_autoscaling.literals import LifecycleStateType

from gpu_constructs.on_node import lifecycle
from gpu_constructs.on_node.lifecycle import (
    DUTIES,
    LAUNCHING,
    TERMINATING,
    WAITS,
    Completion,
    Duty,
    Hooks,
    Membership,
    duty,
)
from tests.on_node.aws_fakes import DENIED, NO_ACTION, NOT_KNOWN, THROTTLED, Pauses, Scripted, described, error


def test_every_state_that_auto_scaling_has_is_in_the_table() -> None:
    assert set(DUTIES) == set(get_args(LifecycleStateType))


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("Pending", Duty.SERVE),
        ("Pending:Wait", Duty.SERVE),
        ("Pending:Proceed", Duty.SERVE),
        ("Quarantined", Duty.NOTHING),
        ("InService", Duty.SERVE),
        ("Terminating", Duty.LEAVE),
        ("Terminating:Wait", Duty.LEAVE),
        ("Terminating:Proceed", Duty.LEAVE),
        ("Terminating:Retained", Duty.NOTHING),
        ("Terminated", Duty.LEAVE),
        ("Detaching", Duty.NOTHING),
        ("Detached", Duty.NOTHING),
        ("EnteringStandby", Duty.NOTHING),
        ("Standby", Duty.NOTHING),
        ("ReplacingRootVolume", Duty.LEAVE),
        ("ReplacingRootVolume:Wait", Duty.LEAVE),
        ("ReplacingRootVolume:Proceed", Duty.LEAVE),
        ("RootVolumeReplaced", Duty.SERVE),
        ("Warmed:Pending", Duty.PREPARE),
        ("Warmed:Pending:Wait", Duty.PREPARE),
        ("Warmed:Pending:Proceed", Duty.PREPARE),
        ("Warmed:Pending:Retained", Duty.NOTHING),
        ("Warmed:Terminating", Duty.LEAVE),
        ("Warmed:Terminating:Wait", Duty.LEAVE),
        ("Warmed:Terminating:Proceed", Duty.LEAVE),
        ("Warmed:Terminating:Retained", Duty.NOTHING),
        ("Warmed:Terminated", Duty.LEAVE),
        ("Warmed:Stopped", Duty.PREPARE),
        ("Warmed:Running", Duty.PREPARE),
        ("Warmed:Hibernated", Duty.PREPARE),
    ],
)
def test_each_state_alone_says_what_to_do(state: str, expected: Duty) -> None:
    assert duty(state) is expected
    assert duty(None, state) is expected


@pytest.mark.parametrize(
    ("state", "target", "expected", "why"),
    [
        (None, None, Duty.NOTHING, "in no group"),
        ("InService", "Terminated", Duty.LEAVE, "IMDS knows first that it leaves"),
        ("Terminating", "InService", Duty.LEAVE, "or the API does"),
        ("Pending:Wait", "Terminated", Duty.LEAVE, "it leaves before it has served"),
        ("Warmed:Stopped", "Warmed:Terminated", Duty.LEAVE, "the pool shrinks"),
        ("Warmed:Pending:Wait", "Warmed:Stopped", Duty.PREPARE, "on its way into the pool"),
        ("Warmed:Stopped", "InService", Duty.SERVE, "started from the pool, and the API does not show it yet"),
        ("Pending", "InService", Duty.SERVE, "a launch"),
        ("Pending", "Warmed:Running", Duty.PREPARE, "a launch into the pool of which the API knows less"),
        ("Pending:Wait", "Warmed:Stopped", Duty.SERVE, "the launch hook of the way out, and IMDS is old"),
        ("Warmed:Pending:Wait", "InService", Duty.PREPARE, "it must not serve while it waits to enter the pool"),
        ("InService", "Warmed:Stopped", Duty.PREPARE, "it returns to the pool"),
        ("InService", "Standby", Duty.NOTHING, "somebody takes it aside"),
        ("Standby", "InService", Duty.SERVE, "and puts it back"),
        ("Pending:Thinking", None, Duty.NOTHING, "a state of tomorrow"),
        ("Pending:Thinking", "InService", Duty.SERVE, "whose target is known"),
    ],
)
def test_state_and_target_together(state: str | None, target: str | None, expected: Duty, why: str) -> None:
    assert duty(state, target) is expected, why


@pytest.mark.parametrize(
    ("state", "hooks"),
    [
        ("Pending:Wait", (LAUNCHING,)),
        ("Warmed:Pending:Wait", (LAUNCHING, TERMINATING)),
        ("Terminating:Wait", (TERMINATING,)),
        ("Warmed:Terminating:Wait", (TERMINATING,)),
    ],
)
def test_which_hooks_hold_an_instance_in_which_state(state: str, hooks: tuple[str, ...]) -> None:
    assert WAITS[state] == hooks
    assert len(WAITS) == 4


def test_an_instance_that_the_api_does_not_know_yet_is_asked_for_again() -> None:
    client, pauses = Scripted(describe_auto_scaling_instances=[NOT_KNOWN, THROTTLED, described("Pending")]), Pauses()
    found = lifecycle.membership(client, "i-1", pauses.patience())
    assert found == Membership(group="nodes", state="Pending", health="Healthy")
    assert client.parameters("describe_auto_scaling_instances") == [{"InstanceIds": ["i-1"]}] * 3
    assert pauses == [1, 2]


def test_an_instance_that_the_api_never_knows_is_in_no_group() -> None:
    client = Scripted(describe_auto_scaling_instances=[NOT_KNOWN])
    assert lifecycle.membership(client, "i-1", Pauses().patience(tries=3)) is None
    assert len(client.calls) == 3


def test_a_denied_membership_is_an_error_and_not_no_group() -> None:
    with pytest.raises(type(DENIED), match="is not authorized"):
        lifecycle.membership(Scripted(describe_auto_scaling_instances=[DENIED]), "i-1", Pauses().patience())


def hooks(pauses: Pauses | None = None, **answers: list[Any]) -> tuple[Hooks, Scripted]:
    client = Scripted(**answers)
    patience = (Pauses() if pauses is None else pauses).patience()
    return Hooks(autoscaling=client, group="nodes", instance_id="i-1", patience=patience), client


def test_an_action_is_completed_by_the_instance_and_needs_no_token() -> None:
    made, client = hooks()
    assert made.complete("ready", "CONTINUE") is Completion.DONE
    assert client.calls == [
        (
            "complete_lifecycle_action",
            {
                "AutoScalingGroupName": "nodes",
                "LifecycleHookName": "ready",
                "InstanceId": "i-1",
                "LifecycleActionResult": "CONTINUE",
            },
        )
    ]


@pytest.mark.parametrize("early", [described("Pending"), described("Warmed:Pending"), NOT_KNOWN])
def test_a_node_that_is_faster_than_its_group_completes_when_that_has_come_to_wait(early: dict[str, Any]) -> None:
    made, client = hooks(complete_lifecycle_action=[NO_ACTION, NO_ACTION, {}], describe_auto_scaling_instances=[early])
    assert made.complete("ready", "CONTINUE") is Completion.DONE
    assert client.called().count("complete_lifecycle_action") == 3


def test_a_group_that_never_comes_to_wait_is_not_waited_for_for_ever() -> None:
    pauses = Pauses()
    made, _ = hooks(
        pauses, complete_lifecycle_action=[NO_ACTION], describe_auto_scaling_instances=[described("Pending")]
    )
    assert made.complete("ready", "CONTINUE") is Completion.NOT_YET
    assert pauses == [1, 2, 3]


@pytest.mark.parametrize(
    "state", ["InService", "Pending:Wait", "Pending:Proceed", "Terminating:Wait", "Warmed:Stopped"]
)
def test_an_action_that_is_over_is_not_tried_again(state: str) -> None:
    pauses = Pauses()
    made, _ = hooks(pauses, complete_lifecycle_action=[NO_ACTION], describe_auto_scaling_instances=[described(state)])
    assert made.complete("ready", "CONTINUE") is Completion.OVER
    assert pauses == []


def test_completing_goes_on_after_throttling_and_contention() -> None:
    contention = error("ResourceContention", "You already have a pending update", 500)
    made, client = hooks(complete_lifecycle_action=[THROTTLED, contention, {}])
    assert made.complete("ready", "ABANDON") is Completion.DONE
    assert len(client.calls) == 3


@pytest.mark.parametrize(
    "lasting",
    [DENIED, error("ValidationError", "No Lifecycle Hook found with name ready for Auto Scaling group nodes")],
)
def test_a_hook_that_cannot_be_completed_is_an_error(lasting: Exception) -> None:
    made, _ = hooks(complete_lifecycle_action=[lasting])
    with pytest.raises(type(lasting), match=r"not authorized|No Lifecycle Hook"):
        made.complete("ready", "CONTINUE")


def test_a_heartbeat_says_whether_the_instance_waits() -> None:
    made, client = hooks(record_lifecycle_action_heartbeat=[{}, NO_ACTION, DENIED])
    assert made.heartbeat("ready") is True
    assert made.heartbeat("ready") is False
    with pytest.raises(type(DENIED), match="is not authorized"):
        made.heartbeat("ready")
    parameters = {"AutoScalingGroupName": "nodes", "LifecycleHookName": "ready", "InstanceId": "i-1"}
    assert client.parameters("record_lifecycle_action_heartbeat") == [parameters] * 3


def test_a_broken_node_does_not_hide_behind_its_grace_period() -> None:
    client = Scripted(set_instance_health=[THROTTLED, {}])
    lifecycle.set_unhealthy(client, "i-1", Pauses().patience())
    parameters = {"InstanceId": "i-1", "HealthStatus": "Unhealthy", "ShouldRespectGracePeriod": False}
    assert client.parameters("set_instance_health") == [parameters] * 2
