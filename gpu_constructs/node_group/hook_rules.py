"""Which lifecycle hooks Auto Scaling takes, and which keep nodes from ever serving. Imports no aws_cdk.

See https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_LifecycleHookSpecification.html
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gpu_constructs.checks import UNKNOWN, Problem, Unknown

LAUNCHING: Final = "autoscaling:EC2_INSTANCE_LAUNCHING"
TERMINATING: Final = "autoscaling:EC2_INSTANCE_TERMINATING"

_NAME = re.compile(r"[A-Za-z0-9\-_/]{1,255}")
_METADATA = re.compile(r"[\t\n\r\x20-\x7e]{1,4000}")
_SECONDS: Final = range(30, 7201)
# The calendar of a block takes its nodes away 45 minutes before the end; EC2 begins to terminate them 30 before.
_SECONDS_BEFORE_EC2: Final = 15 * 60


@dataclass(frozen=True, kw_only=True)
class Hook:
    """A lifecycle hook as the rules see it.

    Args:
        name: Its name.
        transition: When it holds an instance: `LAUNCHING` or `TERMINATING`.
        heartbeat_timeout_seconds: How long, unless a heartbeat prolongs it.
        default_result: What happens then: "ABANDON" or "CONTINUE".
        metadata: A text that the notification carries.
        has_target: Whether a topic or queue is notified.
        has_role: Whether it has a role for that.
        completed_by_node: Whether the node is known to complete it.
    """

    name: str | Unknown
    transition: str | Unknown
    heartbeat_timeout_seconds: float | Unknown = 3600
    default_result: str | Unknown = "ABANDON"
    metadata: str | Unknown | None = None
    has_target: bool = False
    has_role: bool = False
    completed_by_node: bool = False


def problems(hooks: Sequence[Hook]) -> list[Problem]:
    """Say what Auto Scaling would refuse about the hooks of a group; nothing if it would accept them."""
    names = Counter(hook.name for hook in hooks if hook.name is not UNKNOWN)
    return [
        *(problem for hook in hooks for problem in _problems_of(hook)),
        *(_twice(name) for name, times in names.items() if times > 1),
    ]


def doubts(hooks: Sequence[Hook], *, leaves_a_block: bool) -> dict[str, str]:
    """Say what looks wrong about the hooks of a group, by the code of the warning.

    Args:
        hooks: The hooks.
        leaves_a_block: Whether the nodes are taken away before the end of a Capacity Block.
    """
    forgotten = [
        str(hook.name)
        for hook in hooks
        if (hook.transition, hook.default_result) == (LAUNCHING, "ABANDON")
        and not hook.has_target
        and not hook.completed_by_node
    ]
    slow = [
        str(hook.name)
        for hook in hooks
        if leaves_a_block
        and hook.transition == TERMINATING
        and not isinstance(hook.heartbeat_timeout_seconds, Unknown)
        and hook.heartbeat_timeout_seconds > _SECONDS_BEFORE_EC2
    ]
    found = {
        "hookNobodyCompletes": forgotten
        and f"nothing here is known to complete the launch hook {', '.join(forgotten)}: unless something else does, "
        "each node is terminated when its time is over, and another one started, for as long as the group lives; pass "
        "it as Bootstrap.custom(..., lifecycle_hooks=...) if the user data completes it",
        "hookOutlivesBlock": slow
        and f"the termination hook {', '.join(slow)} may hold nodes for more than {_SECONDS_BEFORE_EC2} s, and so long "
        "after they are taken away EC2 terminates the instances of the Capacity Block by itself",
    }
    return {code: text for code, text in found.items() if text}


def _problems_of(hook: Hook) -> list[Problem]:
    seconds = hook.heartbeat_timeout_seconds
    checks = [
        (
            hook.name is UNKNOWN or _NAME.fullmatch(hook.name),
            "lifecycle_hook_name",
            hook.name,
            "1 to 255 letters, digits, hyphens, underscores and slashes",
            "rename the hook",
        ),
        (
            hook.transition in {LAUNCHING, TERMINATING, UNKNOWN},
            "lifecycle_transition",
            hook.transition,
            f'"{LAUNCHING}" or "{TERMINATING}"',
            "write it as Auto Scaling does",
        ),
        (
            seconds is UNKNOWN or seconds in _SECONDS,
            "heartbeat_timeout",
            seconds,
            "whole seconds from 30 to 7200",
            "let the node record heartbeats where it takes longer",
        ),
        (
            hook.default_result in {"ABANDON", "CONTINUE", UNKNOWN},
            "default_result",
            hook.default_result,
            '"ABANDON" or "CONTINUE"',
            "ABANDON replaces an instance that does not answer, CONTINUE takes it as it is",
        ),
        (
            hook.metadata is None or hook.metadata is UNKNOWN or _METADATA.fullmatch(hook.metadata),
            "notification_metadata",
            hook.metadata,
            "1 to 4000 printable ASCII characters",
            "shorten it",
        ),
        (
            hook.has_target or not hook.has_role,
            "role_arn",
            "one, without notification_target_arn",
            "left out, or beside a topic or queue that is notified",
            "pass both or none",
        ),
    ]
    return [
        Problem(
            what=f"lifecycle hook {hook.name!r} {what}" if what != "lifecycle_hook_name" else f"lifecycle hook {what}",
            given=str(given) if what == "role_arn" else repr(given),
            allowed=allowed,
            remedy=remedy,
            prevents="ValidationError",
        )
        for right, what, given, allowed, remedy in checks
        if not right
    ]


def _twice(name: object) -> Problem:
    return Problem(
        what="lifecycle hook lifecycle_hook_name",
        given=f"{name!r} more than once",
        allowed="unique in its group",
        remedy="rename one of them; those of the Bootstrap count too",
    )
