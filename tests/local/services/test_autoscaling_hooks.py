"""Lifecycle hooks: launching and terminating instances wait until they are told to go on, or until their time is up."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError
from moto.autoscaling.models import autoscaling_backends
from moto.core.models import DEFAULT_ACCOUNT_ID

from gpu_constructs.local.clock import clock
from gpu_constructs.local.services.autoscaling.records import member
from tests.local.services.group import Group

if TYPE_CHECKING:
    from mypy_boto3_autoscaling.client import AutoScalingClient

MakeGroup = Callable[..., Group]


def test_an_instance_without_a_hook_is_in_service_at_once(make_group: MakeGroup) -> None:
    assert make_group(2).summary() == ["InService", "InService"]


def test_the_first_instance_already_meets_an_inline_launch_hook(make_group: MakeGroup) -> None:
    group = make_group(1, launch_hook=300)
    node = group.only("Pending:Wait")
    group.complete(node)
    assert group.states() == {node: "InService"}


def test_waiting_instances_count_so_that_a_larger_group_launches_only_what_is_missing(make_group: MakeGroup) -> None:
    group = make_group(2, launch_hook=300)
    group.resize(3)
    assert group.summary() == ["Pending:Wait"] * 3


def test_every_hook_has_to_continue(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    group = make_group(0, launch_hook=300)
    scaling.put_lifecycle_hook(
        AutoScalingGroupName="nodes",
        LifecycleHookName="model",
        LifecycleTransition="autoscaling:EC2_INSTANCE_LAUNCHING",
    )
    group.resize(1)
    node = group.only("Pending:Wait")
    group.complete(node, "boot")
    assert group.states() == {node: "Pending:Wait"}
    group.complete(node, "model")
    assert group.states() == {node: "InService"}


def test_an_abandoned_launch_is_terminated_and_replaced_through_the_hook(make_group: MakeGroup) -> None:
    group = make_group(1, launch_hook=300, terminate_hook=300)
    failed = group.only("Pending:Wait")
    group.complete(failed, result="ABANDON")
    assert group.only("Pending:Wait") != failed
    assert group.ec2_state(failed) == "terminated"
    failure = next(a for a in group.activities() if a["StatusCode"] == "Failed")
    assert failure["StatusMessage"].endswith("was abandoned: Lifecycle Action Completed with ABANDON Result")


@pytest.mark.parametrize(("default", "then"), [("CONTINUE", ["InService"]), ("ABANDON", ["Pending:Wait"])])
def test_a_timeout_gives_the_default_result(
    default: str, then: list[str], make_group: MakeGroup, scaling: AutoScalingClient
) -> None:
    group = make_group(0, launch_hook=60)
    scaling.put_lifecycle_hook(AutoScalingGroupName="nodes", LifecycleHookName="boot", DefaultResult=default)
    group.resize(1)
    first = group.only("Pending:Wait")
    clock.advance(59)
    assert group.states() == {first: "Pending:Wait"}
    clock.advance(2)
    assert group.summary() == then
    assert (first in group.states()) == (default == "CONTINUE")


def test_a_heartbeat_restarts_the_timer(make_group: MakeGroup) -> None:
    group = make_group(1, launch_hook=60)
    node = group.only("Pending:Wait")
    clock.advance(50)
    group.heartbeat(node)
    clock.advance(50)
    assert group.states() == {node: "Pending:Wait"}
    clock.advance(11)
    assert node not in group.states()


def test_heartbeats_do_not_reach_past_the_global_timeout(make_group: MakeGroup) -> None:
    group = make_group(1, launch_hook=30)
    node = group.only("Pending:Wait")
    for _ in range(119):
        clock.advance(25)
        group.heartbeat(node)
    assert group.states() == {node: "Pending:Wait"}
    clock.advance(26)
    assert node not in group.states()


def test_scale_in_waits_for_the_terminate_hook(make_group: MakeGroup) -> None:
    group = make_group(1, terminate_hook=300)
    node = group.only("InService")
    group.resize(0)
    assert group.states() == {node: "Terminating:Wait"}
    assert group.ec2_state(node) == "running"
    group.complete(node, "drain")
    assert group.states() == {}
    assert group.ec2_state(node) == "terminated"


@pytest.mark.parametrize("result", ["CONTINUE", "ABANDON"])
def test_either_result_ends_a_termination(result: str, make_group: MakeGroup) -> None:
    group = make_group(1, terminate_hook=300)
    node = group.only("InService")
    group.resize(0)
    group.complete(node, "drain", result)
    assert group.ec2_state(node) == "terminated"


def test_a_terminate_hook_that_nobody_completes_times_out(make_group: MakeGroup) -> None:
    group = make_group(1, terminate_hook=60)
    node = group.only("InService")
    group.resize(0)
    clock.advance(61)
    assert group.states() == {}
    assert group.ec2_state(node) == "terminated"


@pytest.mark.parametrize(
    ("decrement", "left"), [(True, ["Terminating:Wait"]), (False, ["InService", "Terminating:Wait"])]
)
def test_a_node_that_asks_for_its_termination_is_replaced_unless_capacity_shrinks(
    decrement: bool, left: list[str], make_group: MakeGroup, scaling: AutoScalingClient
) -> None:
    group = make_group(1, terminate_hook=300)
    node = group.only("InService")
    answer = scaling.terminate_instance_in_auto_scaling_group(InstanceId=node, ShouldDecrementDesiredCapacity=decrement)
    assert node in answer["Activity"]["Cause"]
    assert group.summary() == left
    assert group.described()["DesiredCapacity"] == (0 if decrement else 1)


def test_a_reclaimed_instance_is_gone_at_once_and_its_replacement_meets_the_launch_hook(make_group: MakeGroup) -> None:
    group = make_group(1, launch_hook=300, terminate_hook=300)
    node = group.only("Pending:Wait")
    group.complete(node)
    group.ec2.terminate_instances(InstanceIds=[node])
    assert group.only("Pending:Wait") != node
    with pytest.raises(ClientError, match=f"No active Lifecycle Action found with instance ID {node}"):
        group.complete(node, "drain")


def test_deleting_a_hook_completes_what_waits_for_it(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    group = make_group(1, launch_hook=300)
    first = group.only("Pending:Wait")
    scaling.delete_lifecycle_hook(AutoScalingGroupName="nodes", LifecycleHookName="boot")
    assert first not in group.states()
    assert group.summary() == ["InService"]


def test_a_hook_is_described_as_it_was_put(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    make_group(0, launch_hook=300)
    scaling.put_lifecycle_hook(
        AutoScalingGroupName="nodes", LifecycleHookName="boot", NotificationMetadata='{"tier": "inference"}'
    )
    [hook] = scaling.describe_lifecycle_hooks(AutoScalingGroupName="nodes")["LifecycleHooks"]
    assert hook == {
        "LifecycleHookName": "boot",
        "AutoScalingGroupName": "nodes",
        "LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING",
        "NotificationMetadata": '{"tier": "inference"}',
        "HeartbeatTimeout": 300,
        "GlobalTimeout": 30000,
        "DefaultResult": "ABANDON",
    }


@pytest.mark.parametrize(("heartbeat", "longest"), [(30, 3000), (7200, 172800)])
def test_the_global_timeout_is_a_hundred_heartbeats_or_two_days(
    heartbeat: int, longest: int, make_group: MakeGroup, scaling: AutoScalingClient
) -> None:
    make_group(0, launch_hook=heartbeat)
    [hook] = scaling.describe_lifecycle_hooks(AutoScalingGroupName="nodes")["LifecycleHooks"]
    assert hook["GlobalTimeout"] == longest


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"HeartbeatTimeout": 29}, "between 30 and 7200 seconds, got 29"),
        ({"HeartbeatTimeout": 7201}, "between 30 and 7200 seconds, got 7201"),
        ({"DefaultResult": "RETRY"}, "Invalid DefaultResult RETRY"),
        ({"LifecycleTransition": "launching"}, "Invalid LifecycleTransition launching"),
        ({"AutoScalingGroupName": "others"}, "AutoScalingGroup name not found"),
    ],
)
def test_a_wrong_hook_is_refused(
    wrong: dict[str, Any], words: str, make_group: MakeGroup, scaling: AutoScalingClient
) -> None:
    make_group(0)
    right: dict[str, Any] = {
        "AutoScalingGroupName": "nodes",
        "LifecycleHookName": "boot",
        "LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING",
    }
    with pytest.raises(ClientError, match=words) as refused:
        scaling.put_lifecycle_hook(**{**right, **wrong})
    assert refused.value.response["Error"]["Code"] == "ValidationError"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"LifecycleHookName": "model"}, "No Lifecycle Hook found with name model"),
        (
            {"InstanceId": "i-0123456789abcdef0"},
            "No active Lifecycle Action found with instance ID i-0123",
        ),
        ({"LifecycleActionResult": "DONE"}, "Invalid LifecycleActionResult DONE"),
        ({"InstanceId": None, "LifecycleActionToken": "0" * 36}, "No active Lifecycle Action found with token 000"),
        ({"InstanceId": None}, "either InstanceId or LifecycleActionToken"),
    ],
)
def test_a_wrong_completion_is_refused(
    wrong: dict[str, Any], words: str, make_group: MakeGroup, scaling: AutoScalingClient
) -> None:
    group = make_group(1, launch_hook=300)
    node = group.only("Pending:Wait")
    right: dict[str, Any] = {
        "AutoScalingGroupName": "nodes",
        "LifecycleHookName": "boot",
        "InstanceId": node,
        "LifecycleActionResult": "CONTINUE",
    }
    asked = {name: value for name, value in {**right, **wrong}.items() if value is not None}
    with pytest.raises(ClientError, match=words) as refused:
        scaling.complete_lifecycle_action(**asked)
    assert refused.value.response["Error"]["Code"] == "ValidationError"
    assert group.states() == {node: "Pending:Wait"}


def test_an_action_is_completed_by_its_token_alone(make_group: MakeGroup, scaling: AutoScalingClient) -> None:
    group = make_group(2, launch_hook=300)
    backend = autoscaling_backends[DEFAULT_ACCOUNT_ID]["us-east-1"]
    first = backend.autoscaling_groups["nodes"].instance_states[0]
    # On AWS the token comes with the hook's notification.
    wait = member(first).wait
    assert wait is not None
    scaling.complete_lifecycle_action(
        AutoScalingGroupName="nodes",
        LifecycleHookName="boot",
        LifecycleActionToken=wait.actions[0].token,
        LifecycleActionResult="CONTINUE",
    )
    assert group.only("InService") == first.instance_id


def test_a_completed_action_cannot_be_completed_again(make_group: MakeGroup) -> None:
    group = make_group(1, launch_hook=300)
    node = group.only("Pending:Wait")
    group.complete(node)
    with pytest.raises(ClientError, match="No active Lifecycle Action found"):
        group.complete(node)
    with pytest.raises(ClientError, match="No active Lifecycle Action found"):
        group.heartbeat(node)
