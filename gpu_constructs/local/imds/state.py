"""What a fake metadata service has to say at a moment, and what can change it. Times are seconds since it started."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

INSTANCE_ACTION = "meta-data/spot/instance-action"
TERMINATION_TIME = "meta-data/spot/termination-time"
REBALANCE = "meta-data/events/recommendations/rebalance"
SCHEDULED = "meta-data/events/maintenance/scheduled"
HISTORY = "meta-data/events/maintenance/history"
LIFECYCLE_STATE = "meta-data/autoscaling/target-lifecycle-state"
TOKEN = "api/token"  # noqa: S105 - a path

WITHDRAWABLE = (INSTANCE_ACTION, TERMINATION_TIME, REBALANCE, SCHEDULED, LIFECYCLE_STATE)
DATED = (INSTANCE_ACTION, TERMINATION_TIME)


@dataclass
class State:
    """What it has to say at a moment.

    Args:
        action: What EC2 is about to do to the instance, and when.
        termination_time: When it says that it ends it, in the older of the two places.
        rebalance: When EC2 recommended to move.
        events: Scheduled events by id.
        lifecycle_state: Where Auto Scaling takes the instance.
        hop_limit: How far the answer to a token request gets; who asks is in a container, two hops away.
        expiries: How often all tokens given before were forgotten.
    """

    action: tuple[str, float] | None = None
    termination_time: float | None = None
    rebalance: float | None = None
    events: dict[str, ScheduledEvent] = field(default_factory=dict)
    lifecycle_state: str | None = None
    hop_limit: int = 2
    expiries: int = 0


class Change(Protocol):
    """Something that changes what it has to say, from a moment on."""

    @property
    def at(self) -> float:
        """When."""

    def apply(self, state: State) -> None:
        """Change a state."""


@dataclass(frozen=True, kw_only=True)
class Notice:
    """EC2 announces that it takes the instance; the time that it gives stays the same however often it is asked."""

    at: float
    in_seconds: float = 120
    action: str = "terminate"
    path: str = "*"

    def apply(self, state: State) -> None:
        """Announce it, in one place or both; the older one knows terminations only."""
        when = self.at + self.in_seconds
        if self.path in ("*", INSTANCE_ACTION):
            state.action = (self.action, when)
        if self.path in ("*", TERMINATION_TIME):
            state.termination_time = when if self.action == "terminate" else None


@dataclass(frozen=True, kw_only=True)
class PastTime:
    """EC2 has failed to take the instance: the time that it gave stays there, and is over."""

    at: float
    by_seconds: float = 60
    path: str = "*"

    def apply(self, state: State) -> None:
        """Put the time into the past, in one place or both."""
        when = self.at - self.by_seconds
        if self.path in ("*", INSTANCE_ACTION):
            state.action = ("terminate" if state.action is None else state.action[0], when)
        if self.path in ("*", TERMINATION_TIME):
            state.termination_time = when


@dataclass(frozen=True, kw_only=True)
class Rebalance:
    """EC2 recommends to move before the instance is taken."""

    at: float

    def apply(self, state: State) -> None:
        """Recommend it."""
        state.rebalance = self.at


@dataclass(frozen=True, kw_only=True)
class ScheduledEvent:
    """EC2 plans something with the host; the same id again changes what was planned."""

    at: float
    code: str = "system-reboot"
    in_seconds: float = 3600
    lasts_seconds: float = 7200
    state: str = "active"
    event_id: str = "instance-event-0123456789abcdef0"
    description: str = "scheduled"

    def apply(self, state: State) -> None:
        """Plan it, or plan it otherwise."""
        state.events[self.event_id] = self


@dataclass(frozen=True, kw_only=True)
class LifecycleState:
    """Auto Scaling takes the instance to a state."""

    at: float
    state: str

    def apply(self, state: State) -> None:
        """Set it."""
        state.lifecycle_state = self.state


@dataclass(frozen=True, kw_only=True)
class Withdraw:
    """What was announced is announced no more."""

    at: float
    path: str = INSTANCE_ACTION

    def apply(self, state: State) -> None:
        """Take it back; with the notice its older form goes, too."""
        if self.path in ("*", INSTANCE_ACTION):
            state.action = None
        if self.path in ("*", INSTANCE_ACTION, TERMINATION_TIME):
            state.termination_time = None
        if self.path in ("*", REBALANCE):
            state.rebalance = None
        if self.path in ("*", SCHEDULED):
            state.events = {}
        if self.path in ("*", LIFECYCLE_STATE):
            state.lifecycle_state = None


@dataclass(frozen=True, kw_only=True)
class ExpireTokens:
    """All tokens given so far are forgotten."""

    at: float

    def apply(self, state: State) -> None:
        """Forget them."""
        state.expiries += 1


@dataclass(frozen=True, kw_only=True)
class HopLimit:
    """The hop limit of the instance is changed."""

    at: float
    value: int

    def apply(self, state: State) -> None:
        """Set it."""
        state.hop_limit = self.value


@dataclass(frozen=True, kw_only=True, eq=False)  # two that say the same are two
class Fault:
    """Requests are answered wrongly, or not at all.

    Args:
        at: From when on.
        kind: "status", "hang", "rst" or "truncate".
        path: Which requests; "*" is all of them.
        for_seconds: For how long; None is for one request.
        code: The status that "status" answers.
    """

    at: float
    kind: str
    path: str = "*"
    for_seconds: float | None = None
    code: int = 503

    @property
    def ends(self) -> float:
        """When it is over, unless it has hit its one request before."""
        return math.inf if self.for_seconds is None else self.at + self.for_seconds

    def hits(self, path: str, now: float) -> bool:
        """Say whether it meets a request."""
        return self.at <= now < self.ends and self.path in ("*", path)
