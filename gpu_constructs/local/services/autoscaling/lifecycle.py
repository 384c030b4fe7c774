"""Lifecycle hooks as values: what an instance waits for, and what comes of it. Pure: no clock, no moto.

An instance that reaches a hooked transition gets one `Action` a hook, each with a token and a deadline; together they
are its `Wait`. The wait is over when every action continued, or as soon as one was abandoned
(https://docs.aws.amazon.com/autoscaling/ec2/userguide/lifecycle-hooks-overview.html).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

LAUNCHING = "autoscaling:EC2_INSTANCE_LAUNCHING"
TERMINATING = "autoscaling:EC2_INSTANCE_TERMINATING"

Result = Literal["CONTINUE", "ABANDON"]

DEFAULT_HEARTBEAT_SECONDS = 3600
_LONGEST_WAIT_SECONDS = 48 * 3600
_LONGEST_WAIT_HEARTBEATS = 100

# What counts towards desired capacity: whatever is on its way into service, or there.
COUNTED_STATES = frozenset({"Pending", "Pending:Wait", "Pending:Proceed", "InService"})


def global_timeout(heartbeat_timeout: int) -> int:
    """The longest an instance may wait for a hook, in seconds, however many heartbeats it records."""
    return min(_LONGEST_WAIT_SECONDS, _LONGEST_WAIT_HEARTBEATS * heartbeat_timeout)


@dataclass(frozen=True)
class Hook:
    """A lifecycle hook as it was when an instance met it: later changes do not reach waiting instances."""

    name: str
    heartbeat_timeout: int = DEFAULT_HEARTBEAT_SECONDS
    default_result: Result = "ABANDON"


@dataclass(frozen=True)
class Action:
    """One instance's wait for one hook."""

    hook: Hook
    token: str
    started: datetime
    deadline: datetime
    result: Result | None = None
    timed_out: bool = False

    @property
    def open(self) -> bool:
        """Whether it still waits for a result."""
        return self.result is None


@dataclass(frozen=True)
class Wait:
    """Everything an instance waits for in its present transition."""

    actions: tuple[Action, ...]

    @property
    def outcome(self) -> Result | None:
        """ABANDON once one hook was abandoned, CONTINUE once all continued, None while the instance waits."""
        results = [action.result for action in self.actions]
        if "ABANDON" in results:
            return "ABANDON"
        return None if None in results else "CONTINUE"

    @property
    def abandoned(self) -> Action | None:
        """The action that was abandoned, if one was."""
        return next((action for action in self.actions if action.result == "ABANDON"), None)

    def find(self, hook_name: str, token: str | None = None) -> Action | None:
        """The open action of a hook; with a token, only if it is that action's."""
        return next(
            (a for a in self.actions if a.open and a.hook.name == hook_name and token in {None, a.token}),
            None,
        )

    def _with(self, changed: Action) -> Wait:
        return Wait(tuple(changed if action.token == changed.token else action for action in self.actions))

    def completed(self, action: Action, result: Result) -> Wait:
        """This wait, with one action's result given."""
        return self._with(replace(action, result=result))

    def extended(self, action: Action, now: datetime) -> Wait:
        """This wait, with one action's timer restarted, but never past the hook's global timeout."""
        heartbeat = action.hook.heartbeat_timeout
        latest = action.started + timedelta(seconds=global_timeout(heartbeat))
        return self._with(replace(action, deadline=min(now + timedelta(seconds=heartbeat), latest)))

    def expired(self, now: datetime) -> Wait:
        """This wait, with the default result of every hook whose time is up."""
        return Wait(
            tuple(
                replace(action, result=action.hook.default_result, timed_out=True)
                if action.open and action.deadline <= now
                else action
                for action in self.actions
            )
        )


def begin(hooks: Iterable[Hook], now: datetime, new_token: Callable[[], str]) -> Wait:
    """The wait of an instance that has just met these hooks."""
    return Wait(
        tuple(
            Action(hook, new_token(), started=now, deadline=now + timedelta(seconds=hook.heartbeat_timeout))
            for hook in hooks
        )
    )
