"""SignalResource, and waiting for signals: what instances tell a stack that is being created or updated.

An instance of the local AWS is an entry, and nothing in it sends a signal. So that no deployment waits for nobody,
signals are taken as given, as pauses are taken as over, until someone who starts nodes says with `expect` that they are
to be waited for.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import Stack
from moto.cloudformation.responses import CloudFormationResponse
from moto.core.responses import ActionResult, EmptyResult

from gpu_constructs.local.clock import clock

_DURATION = re.compile(r"PT(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")


class SignalsError(Exception):
    """What was waited for did not come, or was a failure."""


@dataclass
class Expectation:
    """Whether anybody is there who sends signals."""

    nodes_boot: bool = False


expectation = Expectation()


def expect(*, nodes_boot: bool) -> None:
    """Say whether nodes boot, and so whether signals are waited for."""
    expectation.nodes_boot = nodes_boot


@dataclass
class Signals:
    """What a resource was told while it was in progress, by unique id."""

    received: dict[str, str] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)

    def take(self) -> list[tuple[str, str]]:
        """Signals not taken yet, with their status."""
        fresh = [(unique_id, status) for unique_id, status in self.received.items() if unique_id not in self.used]
        self.used |= {unique_id for unique_id, _ in fresh}
        return fresh


_open: dict[tuple[str, str], Signals] = {}


def open_for(stack: Stack, logical_id: str) -> Signals:
    """Take signals for a resource from now on."""
    return _open.setdefault((stack.stack_id, logical_id), Signals())


def close_for(stack: Stack, logical_id: str) -> None:
    """Take no more."""
    _open.pop((stack.stack_id, logical_id), None)


def signal_resource(self: CloudFormationResponse) -> ActionResult:
    """The API operation: to a resource in progress, once by unique id."""
    stack = self.cloudformation_backend.get_stack(self._get_param("StackName"))
    logical_id, status = self._get_param("LogicalResourceId"), self._get_param("Status")
    if status not in {"SUCCESS", "FAILURE"}:
        raise ValidationError(stack.stack_id, message=f"Invalid status {status}. Valid values are: SUCCESS, FAILURE")
    if logical_id not in stack.template_dict.get("Resources", {}):
        message = f"Resource {logical_id} does not exist for stack {stack.name}"
        raise ValidationError(stack.stack_id, message=message)
    signals = _open.get((stack.stack_id, logical_id))
    if signals is None:
        message = f"Stack:{stack.stack_id} is in {stack.status} state and can not be signaled"
        raise ValidationError(stack.stack_id, message=message)
    signals.received.setdefault(self._get_param("UniqueId"), status)
    return EmptyResult()


def seconds(duration: str) -> int:
    """A duration of a policy, such as PT15M.

    Raises:
        SignalsError: It is not one.
    """
    match = _DURATION.fullmatch(duration)
    if match is None:
        raise SignalsError(f"Invalid duration {duration}: it must be like PT1H30M or PT90S")
    hours, minutes, rest = (int(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + rest


@dataclass
class Tally:
    """How many instances of how many have to succeed, and how many did."""

    total: int
    percent: int = 100
    successes: int = 0
    failures: int = 0

    def count(self, successes: int, failures: int) -> None:
        """Add signals.

        Raises:
            SignalsError: Too many have failed.
        """
        self.successes += successes
        self.failures += failures
        if self.failures > self.total - math.ceil(self.total * self.percent / 100):
            raise SignalsError(
                f"Received {self.failures} FAILURE signal(s) out of {self.total}.  "
                f"Unable to satisfy {self.percent}% MinSuccessfulInstancesPercent requirement"
            )


def wait_for(
    signals: Signals, wanted: int, timeout_seconds: int, tally: Tally, note: Callable[[str], None]
) -> Iterator[None]:
    """Wait until that many signals have come or the time is up; what has not come by then has failed.

    Raises:
        SignalsError: Too many have failed.
    """
    if not expectation.nodes_boot:
        note(f"Nobody boots nodes in this local AWS: {wanted} resource signal(s) taken as given")
        return
    deadline, left = clock.now() + timedelta(seconds=timeout_seconds), wanted
    while True:
        for unique_id, status in signals.take():
            left -= 1
            note(f"Received {status} signal with UniqueId {unique_id}")
            tally.count(status == "SUCCESS", status == "FAILURE")
        if left <= 0:
            return
        if clock.now() >= deadline:
            note(
                f"Failed to receive {left} resource signal(s) within the specified duration.  "
                "Each resource signal timeout is counted as a FAILURE."
            )
            tally.count(0, left)
            return
        yield


def wait_for_creation(definition: dict[str, Any], signals: Signals, note: Callable[[str], None]) -> Iterator[None]:
    """Wait for what a resource's CreationPolicy asks for.

    Raises:
        SignalsError: It did not come in time, or was a failure.
    """
    policy = definition.get("CreationPolicy") or {}
    if "ResourceSignal" not in policy:
        return
    wanted = int(policy["ResourceSignal"].get("Count", 1))
    percent = int((policy.get("AutoScalingCreationPolicy") or {}).get("MinSuccessfulInstancesPercent", 100))
    timeout = seconds(policy["ResourceSignal"].get("Timeout", "PT5M"))
    yield from wait_for(signals, wanted, timeout, Tally(wanted, percent), note)
