from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_sns as sns

from gpu_constructs import Bootstrap, Capacity, GpuConstructsError, GpuLaunchTemplate, GpuNodeGroup
from gpu_constructs.node_group import user_data_rules
from gpu_constructs.node_group.hook_rules import LAUNCHING, TERMINATING
from gpu_constructs.node_group.hooks import HookProperty
from tests.conftest import only, resources, warnings

BOOTED = HookProperty(lifecycle_hook_name="booted", lifecycle_transition=LAUNCHING, heartbeat_timeout=600)
LEAVING = HookProperty(lifecycle_hook_name="leaving", lifecycle_transition=TERMINATING)
SCRIPT = "#!/bin/bash\necho hello\n"
LIMIT = 16_384


def _template(stack: Stack, vpc: ec2.IVpc, bootstrap: Bootstrap, **options: Any) -> GpuLaunchTemplate:
    return GpuLaunchTemplate(
        stack, "Template", **{"instance_type": "g5.xlarge", "vpc": vpc, "bootstrap": bootstrap, **options}
    )


def _group(stack: Stack, vpc: ec2.IVpc, bootstrap: Bootstrap = Bootstrap.none(), **options: Any) -> GpuNodeGroup:
    return GpuNodeGroup(
        stack, "Nodes", launch_template=_template(stack, vpc, bootstrap), **{"max_capacity": 2, **options}
    )


def _user_data(stack: Stack) -> Any:
    return only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]["UserData"]["Fn::Base64"]


def _hooks(stack: Stack) -> Any:
    return only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"].get("LifecycleHookSpecificationList")


def test_without_a_bootstrap_nodes_do_nothing_and_no_hook_holds_them(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc)
    assert _user_data(stack) == "#!/bin/bash"
    assert _hooks(stack) is None


def test_user_data_is_a_text(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc, Bootstrap.custom(SCRIPT))
    assert _user_data(stack) == SCRIPT
    assert warnings(stack) == []


def test_user_data_is_that_of_cdk_to_which_commands_are_added_later(stack: Stack, vpc: ec2.Vpc) -> None:
    commands = ec2.UserData.for_linux()
    template = _template(stack, vpc, Bootstrap.custom(commands))
    commands.add_commands("echo one")
    user_data = template.launch_template.user_data
    assert user_data
    user_data.add_commands("echo two")
    assert _user_data(stack) == "#!/bin/bash\necho one\necho two"


def test_user_data_as_long_as_ec2_takes_is_accepted() -> None:
    assert user_data_rules.problems("#!" + "x" * (LIMIT - 2)) == []


def test_user_data_that_is_too_long_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match="at most 16384 bytes, counted before base64, got 16385 bytes; put"):
        _template(stack, vpc, Bootstrap.custom("#!" + "x" * (LIMIT - 1)))


def test_user_data_is_measured_in_bytes() -> None:
    (problem,) = user_data_rules.problems("#!" + "é" * 8192)
    assert problem.given == "16386 bytes"


def test_user_data_too_long_is_told_with_all_else(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match="Stack/Template: 2 problems"):
        _template(stack, vpc, Bootstrap.custom("#!" + "x" * LIMIT), instance_type="p9.large")


def test_what_only_the_deployment_knows_counts_as_nothing(stack: Stack, vpc: ec2.Vpc) -> None:
    parameter = CfnParameter(stack, "Name").value_as_string
    _template(stack, vpc, Bootstrap.custom("#!" + "x" * (LIMIT - 2) + parameter))
    assert _user_data(stack)["Fn::Join"][1][1] == {"Ref": "Name"}


def test_user_data_that_grows_too_long_later_is_refused_at_synth() -> None:
    app = App()
    stack = Stack(app, "Stack")
    template = _template(stack, ec2.Vpc(stack, "Vpc"), Bootstrap.none())
    user_data = template.launch_template.user_data
    assert user_data
    user_data.add_commands("x" * LIMIT)
    with pytest.raises(RuntimeError, match="user data must be at most 16384 bytes"):
        app.synth()


@pytest.mark.parametrize("text", ["echo hello", "\n#!/bin/bash\necho hello"])
def test_user_data_that_cloud_init_would_ignore_is_warned_of(stack: Stack, vpc: ec2.Vpc, text: str) -> None:
    _template(stack, vpc, Bootstrap.custom(text))
    (warning,) = warnings(stack)
    assert 'cloud-init ignores it; begin a script with "#!/bin/bash"' in warning


def test_every_kind_of_cdk_user_data_is_known_to_cloud_init() -> None:
    parts = ec2.MultipartUserData()
    parts.add_part(ec2.MultipartBody.from_user_data(ec2.UserData.for_linux()))
    for known in (parts.render(), ec2.UserData.for_linux().render(), "#cloud-config\n", ""):
        assert user_data_rules.doubts(known) == {}


def test_hooks_hold_from_the_first_node_on(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Bootstrap.custom(SCRIPT, lifecycle_hooks=[BOOTED]), lifecycle_hooks=[LEAVING])
    assert _hooks(stack) == [
        {"LifecycleHookName": "booted", "LifecycleTransition": LAUNCHING, "HeartbeatTimeout": 600},
        {"LifecycleHookName": "leaving", "LifecycleTransition": TERMINATING},
    ]
    assert resources(stack, "AWS::AutoScaling::LifecycleHook") == {}
    assert warnings(stack) == []


def test_nodes_may_complete_the_hooks_of_their_own_group_alone(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Bootstrap.custom(SCRIPT, lifecycle_hooks=[BOOTED]))
    (statement,) = only(stack, "AWS::IAM::Policy")["Properties"]["PolicyDocument"]["Statement"]
    assert statement["Action"] == [
        "autoscaling:CompleteLifecycleAction",
        "autoscaling:RecordLifecycleActionHeartbeat",
    ]
    assert "autoScalingGroupName/Stack-Nodes" in str(statement["Resource"])


def test_nodes_may_not_touch_hooks_that_are_not_theirs(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, lifecycle_hooks=[LEAVING])
    assert resources(stack, "AWS::IAM::Policy") == {}


def test_launch_hook_that_nobody_completes_is_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, lifecycle_hooks=[BOOTED])
    (warning,) = warnings(stack)
    assert "nothing here is known to complete the launch hook booted" in warning


def test_launch_hook_that_tells_a_topic_is_not_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    told = HookProperty(
        lifecycle_hook_name="booted",
        lifecycle_transition=LAUNCHING,
        notification_target_arn=sns.Topic(stack, "Topic").topic_arn,
        role_arn="arn:aws:iam::111111111111:role/Notifier",
    )
    _group(stack, vpc, lifecycle_hooks=[told])
    assert warnings(stack) == []


@pytest.mark.parametrize("seconds", [None, 901])
def test_termination_hook_that_outlives_a_block_is_warned_of(stack: Stack, vpc: ec2.Vpc, seconds: int | None) -> None:
    _in_a_block(stack, vpc, seconds)
    assert any("the termination hook leaving may hold nodes for more than 900 s" in text for text in warnings(stack))


def test_termination_hook_that_fits_before_the_end_of_a_block_is_not_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    _in_a_block(stack, vpc, 900)
    assert not any("termination hook" in text for text in warnings(stack))


def _in_a_block(stack: Stack, vpc: ec2.Vpc, seconds: int | None) -> None:
    block = Capacity.capacity_block("cr-0123456789abcdef0", end=datetime(2027, 1, 10, 11, 30, tzinfo=timezone.utc))
    template = _template(stack, vpc, Bootstrap.none(), instance_type="p5.48xlarge", capacity=block)
    leaving = HookProperty(lifecycle_hook_name="leaving", lifecycle_transition=TERMINATING, heartbeat_timeout=seconds)
    GpuNodeGroup(
        stack,
        "Nodes",
        launch_template=template,
        vpc_subnets=ec2.SubnetSelection(
            availability_zones=["us-east-1a"], subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS
        ),
        max_capacity=2,
        lifecycle_hooks=[leaving],
    )


def test_all_that_is_wrong_with_hooks_is_told_at_once(stack: Stack, vpc: ec2.Vpc) -> None:
    wrong = autoscaling.CfnAutoScalingGroup.LifecycleHookSpecificationProperty(
        lifecycle_hook_name="booted",
        lifecycle_transition="launching",
        heartbeat_timeout=10,
        default_result="RETRY",
        role_arn="arn:aws:iam::111111111111:role/Notifier",
    )
    with pytest.raises(GpuConstructsError, match="Stack/Nodes: 5 problems") as raised:
        _group(stack, vpc, Bootstrap.custom(SCRIPT, lifecycle_hooks=[BOOTED]), lifecycle_hooks=[wrong])
    for text in ("lifecycle_transition", "heartbeat_timeout", "default_result", "role_arn", "'booted' more than once"):
        assert text in str(raised.value)


def test_hook_known_only_at_deploy_time_is_not_judged(stack: Stack, vpc: ec2.Vpc) -> None:
    seconds = CfnParameter(stack, "Seconds", type="Number").value_as_number
    hook = HookProperty(lifecycle_hook_name="booted", lifecycle_transition=LAUNCHING, heartbeat_timeout=seconds)
    _group(stack, vpc, Bootstrap.custom(SCRIPT, lifecycle_hooks=[hook]))
    assert _hooks(stack)[0]["HeartbeatTimeout"] == {"Ref": "Seconds"}
