"""What a node does that cannot boot: it says why wherever somebody may look, and goes.

Nothing that fails on the way hides the rest: each part is tried and told, and the node leaves its group at the end.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final, TypeVar

from gpu_constructs.on_node.aws import PATIENT, Patience, code_of
from gpu_constructs.on_node.failures import STUBBORN, BootFailure, RecordStore, add, is_third, last_bytes
from gpu_constructs.on_node.lifecycle import Completion, Hooks, set_unhealthy
from gpu_constructs.on_node.names import (
    FAILURE_WINDOW_MINUTES,
    GROUP_DIMENSION,
    LAUNCHES_SUSPENDED,
    METRIC_NAMESPACE,
    failures_key,
)

_T = TypeVar("_T")

_LOGGED_BYTES: Final = 64 * 1024  # a sixteenth of what PutLogEvents takes
_CONSOLE_BYTES: Final = 4096  # EC2 keeps the last 64 KiB of a console


@dataclass(frozen=True, kw_only=True)
class Clients:
    """The boto3 clients that a node needs to say that it cannot boot."""

    autoscaling: Any
    s3: Any
    logs: Any
    cloudwatch: Any


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a node is, and where it says that it cannot boot.

    Args:
        region: Its Region.
        group: Its Auto Scaling group, if it is in one.
        hook: The launch hook that holds it, if one does.
        log_group: The log group that is told, if there is one.
        bucket: The bucket of the record of the group, if there is one.
        prefix: What the keys there begin with.
    """

    region: str
    group: str | None = None
    hook: str | None = None
    log_group: str | None = None
    bucket: str | None = None
    prefix: str = ""


@dataclass(frozen=True, kw_only=True)
class Report:
    """What came of the report.

    Args:
        suspended: Whether the node has suspended the launches of its group.
        problems: What could not be done, one sentence each.
    """

    suspended: bool
    problems: tuple[str, ...]


def report_boot_failure(
    failure: BootFailure,
    place: Place,
    clients: Clients,
    *,
    say: Callable[[str], None],
    now: Callable[[], datetime],
    patience: Patience = PATIENT,
    stubborn: Patience = STUBBORN,
) -> Report:
    """Say why a node cannot boot, suspend the launches of its group if it is the third, and have it replaced.

    On the console, in the log group, and in the record of the group. Completing a lifecycle action takes a result and
    no reason, so ABANDON is sent last, when everything else has been said: the machine is gone soon after.

    Args:
        failure: What failed.
        place: Where the node is.
        clients: How it talks to AWS.
        say: Says a line on the console.
        now: The time, in UTC.
        patience: How often a call is tried.
        stubborn: How often the record is, while other nodes change it.
    """
    boot = _FailedBoot(failure, place, clients, say, now, patience)
    say(f"gpu-node: {failure.instance_id} cannot boot, {failure.step} failed: {failure.reason}")
    for line in last_bytes(failure.tail, _CONSOLE_BYTES).splitlines():
        say(f"gpu-node: | {line}")
    if place.log_group:
        boot.attempt(f"write to the log group {place.log_group}", boot.write_log)
    suspended = False
    if place.group and place.bucket:
        key = failures_key(place.prefix, place.group)
        suspended = boot.record(
            RecordStore(s3=clients.s3, bucket=place.bucket, key=key, patience=stubborn), place.group
        )
    if place.group:
        boot.leave(place.group)
    return Report(suspended=suspended, problems=tuple(boot.problems))


@dataclass(frozen=True)
class _FailedBoot:
    failure: BootFailure
    place: Place
    clients: Clients
    say: Callable[[str], None]
    now: Callable[[], datetime]
    patience: Patience
    problems: list[str] = field(default_factory=list)

    def attempt(self, what: str, call: Callable[[], _T]) -> _T | None:
        """Do something; None if it fails, which is told."""
        try:
            return call()
        except Exception as error:
            self.problems.append(f"could not {what}: {error}")
            self.say(f"gpu-node: {self.problems[-1]}")
            return None

    def write_log(self) -> None:
        """Write the failure and the tail into a stream of the node's own, a line an event."""
        stream = {"logGroupName": self.place.log_group, "logStreamName": f"{self.failure.instance_id}/boot"}
        try:
            self.patience.insist(lambda: self.clients.logs.create_log_stream(**stream))
        except Exception as error:
            if code_of(error) != "ResourceAlreadyExistsException":
                raise
        milliseconds = int(self.now().timestamp() * 1000)
        first = json.dumps({"event": "failed", "step": self.failure.step, "reason": self.failure.reason})
        lines = [first, *last_bytes(self.failure.tail, _LOGGED_BYTES).splitlines()]
        # CloudWatch takes no empty event.
        events = [{"timestamp": milliseconds, "message": line} for line in lines if line.strip()]
        answer = self.patience.insist(lambda: self.clients.logs.put_log_events(**stream, logEvents=events))
        if rejected := answer.get("rejectedLogEventsInfo"):
            raise ValueError(f"CloudWatch rejected events, which says that the clock of the node is wrong: {rejected}")

    def record(self, store: RecordStore, group: str) -> bool:
        """Add the failure to the record of the group; if it is the third, suspend launches and say whether they are."""
        what = f"record the failure in s3://{store.bucket}/{store.key}"
        record = self.attempt(what, lambda: store.change(lambda found: add(found, self.failure, self.now())))
        if record is None or not is_third(record, self.now()):
            return False
        suspended = bool(self.attempt(f"suspend the launches of {group}", lambda: self._suspend(group)))
        if suspended:
            self.say(suspension(group, self.place.region))
            at = self.now()
            self.attempt(
                f"say in s3://{store.bucket}/{store.key} that launches are suspended",
                lambda: store.change(lambda found: replace(found, suspended_at=at)),
            )
        # Somebody has to look in either case, the more so where launches go on.
        self.attempt(f"publish the metric {LAUNCHES_SUSPENDED}", lambda: self._alarm(group))
        return suspended

    def leave(self, group: str) -> None:
        """Abandon the launch; a node that no hook holds (any more) is unhealthy."""
        hook, instance_id = self.place.hook, self.failure.instance_id
        hooks = Hooks(
            autoscaling=self.clients.autoscaling, group=group, instance_id=instance_id, patience=self.patience
        )
        if hook and self.attempt("abandon its launch", lambda: hooks.complete(hook, "ABANDON")) is Completion.DONE:
            return
        self.attempt(
            "have itself replaced", lambda: set_unhealthy(self.clients.autoscaling, instance_id, self.patience)
        )

    def _suspend(self, group: str) -> bool:
        self.patience.insist(
            lambda: self.clients.autoscaling.suspend_processes(AutoScalingGroupName=group, ScalingProcesses=["Launch"])
        )
        return True

    def _alarm(self, group: str) -> None:
        datum = {
            "MetricName": LAUNCHES_SUSPENDED,
            "Dimensions": [{"Name": GROUP_DIMENSION, "Value": group}],
            "Timestamp": self.now(),
            "Value": 1,
        }
        self.patience.insist(
            lambda: self.clients.cloudwatch.put_metric_data(Namespace=METRIC_NAMESPACE, MetricData=[datum])
        )


def suspension(group: str, region: str) -> str:
    """Return what is said when launches are suspended: that they are, why, and how people resume them."""
    resume = ["aws", "autoscaling", "resume-processes", "--auto-scaling-group-name", group]
    return (
        f"gpu-node: this was at least the third node of {group} within {FAILURE_WINDOW_MINUTES} minutes that cannot "
        "boot. The group launches no more until somebody resumes that, which no node does; when the cause is gone: "
        + shlex.join([*resume, "--scaling-processes", "Launch", "--region", region])
    )
