"""Lifecycle hooks as they are put, kept and described; what they do to an instance is in `lifecycle`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from moto.autoscaling.exceptions import ValidationError
from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, LifecycleHook

from gpu_constructs.local.services.autoscaling.lifecycle import (
    DEFAULT_HEARTBEAT_SECONDS,
    LAUNCHING,
    TERMINATING,
    Hook,
    Result,
    global_timeout,
)

_TRANSITIONS = (LAUNCHING, TERMINATING)
_RESULTS = ("CONTINUE", "ABANDON")
_SHORTEST_HEARTBEAT, _LONGEST_HEARTBEAT = 30, 7200


class KeptHook(LifecycleHook):
    """moto's hook, with what was really given instead of the role and the queue that moto makes up."""

    def __init__(self, group_name: str, properties: Mapping[str, Any]) -> None:
        heartbeat = int(properties.get("HeartbeatTimeout") or DEFAULT_HEARTBEAT_SECONDS)
        super().__init__(
            properties["LifecycleHookName"],
            group_name,
            properties.get("LifecycleTransition"),
            heartbeat,
            properties.get("DefaultResult"),
        )
        # None is left out of the response, as AWS does for what was not given; moto declares that there is always one.
        given: dict[str, Any] = {"role_arn": "RoleARN", "notification_target_arn": "NotificationTargetARN"}
        for attribute, name in given.items():
            setattr(self, attribute, properties.get(name) or None)
        self.notification_metadata = properties.get("NotificationMetadata") or None
        self.global_timeout = global_timeout(heartbeat)
        self.properties = dict(properties)


def checked_result(value: Any, member_name: str) -> Result:
    """`value` as a lifecycle action result.

    Raises:
        ValidationError: It is neither CONTINUE nor ABANDON.
    """
    if value not in _RESULTS:
        raise ValidationError(f"Invalid {member_name} {value}. Valid values are: CONTINUE, ABANDON")
    return "CONTINUE" if value == "CONTINUE" else "ABANDON"


def put_hook(backend: AutoScalingBackend, group_name: str, properties: Mapping[str, Any]) -> KeptHook:
    """Create a hook, or change what is given of an existing one.

    Raises:
        ValidationError: The transition, the default result or the heartbeat timeout is not allowed.
    """
    key = f"{group_name}_{properties['LifecycleHookName']}"
    existing = backend.lifecycle_hooks.get(key)
    before = existing.properties if isinstance(existing, KeptHook) else {}
    merged = {**before, **{name: value for name, value in properties.items() if value is not None}}
    _check(merged)
    hook = backend.lifecycle_hooks[key] = KeptHook(group_name, merged)
    return hook


def _check(properties: Mapping[str, Any]) -> None:
    if properties.get("LifecycleTransition") not in _TRANSITIONS:
        raise ValidationError(
            f"Invalid LifecycleTransition {properties.get('LifecycleTransition')}. "
            f"Valid values are: {', '.join(_TRANSITIONS)}"
        )
    checked_result(properties.get("DefaultResult") or "ABANDON", "DefaultResult")
    heartbeat = int(properties.get("HeartbeatTimeout") or DEFAULT_HEARTBEAT_SECONDS)
    if not _SHORTEST_HEARTBEAT <= heartbeat <= _LONGEST_HEARTBEAT:
        raise ValidationError(
            f"Heartbeat timeout must be between {_SHORTEST_HEARTBEAT} and {_LONGEST_HEARTBEAT} seconds, got {heartbeat}"
        )


def hooks_of(group: FakeAutoScalingGroup, transition: str) -> list[Hook]:
    """The hooks an instance of the group meets in a transition, in the order they were put."""
    kept = group.autoscaling_backend.describe_lifecycle_hooks(group.name)
    return [
        Hook(hook.name, hook.heartbeat_timeout, checked_result(hook.default_result, "DefaultResult"))
        for hook in kept
        if hook.lifecycle_transition == transition
    ]


@contextmanager
def inline_hooks(
    backend: AutoScalingBackend, group_name: str, specifications: Sequence[Mapping[str, Any]]
) -> Iterator[None]:
    """Hooks that are there before a group's first instance; taken away again if the group cannot be created."""
    for specification in specifications:
        put_hook(backend, group_name, specification)
    try:
        yield
    except Exception:
        for specification in specifications:
            backend.delete_lifecycle_hook(group_name, specification["LifecycleHookName"])
        raise
