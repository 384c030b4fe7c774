"""The lifecycle hooks of a group: those that its nodes complete, and those that something else does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aws_cdk import aws_autoscaling as autoscaling

from gpu_constructs.checks import Problem, no_struct
from gpu_constructs.node_group.hook_rules import Hook
from gpu_constructs.tokens import known

HookProperty = autoscaling.CfnAutoScalingGroup.LifecycleHookSpecificationProperty

NODE_ACTIONS: Final = ("autoscaling:CompleteLifecycleAction", "autoscaling:RecordLifecycleActionHeartbeat")
"""What a node needs to complete a hook, and to prolong it."""


def as_hooks(hooks: Sequence[object], *, completed_by_node: bool = False) -> list[Hook]:
    """Return hooks as the rules see them; those that are no structs are told by `struct_problems`."""
    return [_as_hook(hook, completed_by_node=completed_by_node) for hook in hooks if isinstance(hook, HookProperty)]


def _as_hook(hook: HookProperty, *, completed_by_node: bool) -> Hook:
    # With the defaults of Auto Scaling.
    return Hook(
        name=known(hook.lifecycle_hook_name),
        transition=known(hook.lifecycle_transition),
        heartbeat_timeout_seconds=3600 if hook.heartbeat_timeout is None else known(hook.heartbeat_timeout),
        default_result=known(hook.default_result or "ABANDON"),
        metadata=known(hook.notification_metadata),
        has_target=bool(hook.notification_target_arn),
        has_role=hook.role_arn is not None,
        completed_by_node=completed_by_node,
    )


def struct_problems(hooks: Sequence[object]) -> list[Problem]:
    """Say which hooks are no structs of CDK."""
    name = "autoscaling.CfnAutoScalingGroup.LifecycleHookSpecificationProperty"
    return [no_struct("lifecycle_hooks", hook, name) for hook in hooks if not isinstance(hook, HookProperty)]


def set_hooks(group: autoscaling.CfnAutoScalingGroup, hooks: Sequence[HookProperty]) -> None:
    """Set hooks on the group itself: as resources of their own they would miss the first nodes."""
    if hooks:
        group.lifecycle_hook_specification_list = list(hooks)
