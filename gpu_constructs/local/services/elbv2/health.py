"""Health of the targets in a target group, by the clock: initial, healthy, unhealthy, draining, unused.

Nothing here probes an instance. A target is taken to answer its health checks from the moment it is registered; whoever
knows better says so with `set_probe_result`, and the target's state follows once as many checks in a row as the target
group asks for would have seen it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from weakref import WeakKeyDictionary

from moto.ec2.models import EC2Backend
from moto.elbv2.exceptions import TargetGroupNotFoundError
from moto.elbv2.models import ELBv2Backend, FakeHealthStatus, FakeTargetGroup, elbv2_backends

from gpu_constructs.local.clock import clock
from gpu_constructs.local.extend import replace_method

_ANSWERS = {
    "Elb.RegistrationInProgress": ("initial", "Target registration is in progress"),
    "Elb.InitialHealthChecking": ("initial", "Initial health checks in progress"),
    "Target.FailedHealthChecks": ("unhealthy", "Health checks failed"),
    "Target.DeregistrationInProgress": ("draining", "Target deregistration is in progress"),
    "Target.InvalidState": ("unused", "Target is in the stopped state"),
}


@dataclass
class Target:
    """A target's history: when it came, how its health checks went since, when it left."""

    registered: datetime
    probes: list[tuple[datetime, bool]] = field(default_factory=list)
    deregistered: datetime | None = None
    in_flight: int = 0

    def __post_init__(self) -> None:
        self.probes = self.probes or [(self.registered, True)]


def confirmed_health(
    target: Target, now: datetime, healthy_after: timedelta, unhealthy_after: timedelta
) -> bool | None:
    """What the load balancer believes: the last result that held for long enough, None if none has yet."""
    believed = None
    ends = [since for since, _ in target.probes[1:]] + [now]
    for (since, healthy), end in zip(target.probes, ends, strict=True):
        if end - since >= (healthy_after if healthy else unhealthy_after):
            believed = healthy
    return believed


def set_probe_result(target_group_arn: str, target_id: str, healthy: bool) -> None:
    """Say how a registered target answers its health checks from now on.

    Raises:
        KeyError: There is no such target group, or the target is not registered with it.
    """
    target_group = _find(target_group_arn)
    if target_id not in target_group.targets:
        raise KeyError(f"{target_id} is not registered with {target_group_arn}")
    target = _target(target_group, target_id)
    if target.probes[-1][1] != healthy:
        target.probes.append((clock.now(), healthy))


def is_unhealthy(target_group: FakeTargetGroup, target_id: str) -> bool:
    """Whether a registered target fails its health checks."""
    return target_id in target_group.targets and _reason(target_group, target_id) == "Target.FailedHealthChecks"


def set_in_flight(target_group_arn: str, target_id: str, requests: int) -> None:
    """Say how many requests a target is at work on: deregistered, it is waited for while there are some.

    Raises:
        KeyError: There is no such target group, or it never had such a target.
        ValueError: The number is negative.
    """
    if requests < 0:
        raise ValueError(f"requests must not be negative, got {requests}")
    known = _targets.get(_find(target_group_arn), {})
    if target_id not in known:
        raise KeyError(f"{target_id} was never registered with {target_group_arn}")
    known[target_id].in_flight = requests


def in_flight(target_group: FakeTargetGroup, target_id: str) -> bool:
    """Whether a deregistered target still answers requests; the deregistration delay cuts them off."""
    target = _targets.get(target_group, {}).get(target_id)
    return target is not None and target.in_flight > 0 and _draining(target_group, target_id)


def install() -> None:
    """Let target health follow the clock."""
    replace_method(FakeTargetGroup, _register, "register")
    replace_method(FakeTargetGroup, _deregister, "deregister")
    replace_method(FakeTargetGroup, _health_for, "health_for")
    replace_method(ELBv2Backend, _describe_target_health, "describe_target_health")


_targets: WeakKeyDictionary[FakeTargetGroup, dict[str, Target]] = WeakKeyDictionary()
_moto_register = FakeTargetGroup.register
_moto_deregister = FakeTargetGroup.deregister
_moto_health_for = FakeTargetGroup.health_for


def _find(arn: str) -> FakeTargetGroup:
    for _, _, backend in elbv2_backends.iter_backends():
        if isinstance(backend, ELBv2Backend) and arn in backend.target_groups:
            return backend.target_groups[arn]
    raise KeyError(f"no target group {arn}")


def _target(target_group: FakeTargetGroup, target_id: str) -> Target:
    return _targets.setdefault(target_group, {}).setdefault(target_id, Target(clock.now()))


def _register(self: FakeTargetGroup, targets: list[dict[str, Any]]) -> None:
    new = [target["Id"] for target in targets if target["Id"] not in self.targets]
    _moto_register(self, targets)
    for target_id in new:
        _targets.setdefault(self, {})[target_id] = Target(clock.now())


def _deregister(self: FakeTargetGroup, targets: list[dict[str, Any]]) -> None:
    _moto_deregister(self, targets)
    for target in targets:
        _target(self, target["Id"]).deregistered = clock.now()


def _draining(target_group: FakeTargetGroup, target_id: str) -> bool:
    target = _targets.get(target_group, {}).get(target_id)
    if target is None or target.deregistered is None or target_id in target_group.targets:
        return False
    delay = timedelta(seconds=int(str(target_group.attributes["deregistration_delay.timeout_seconds"])))
    return clock.now() < target.deregistered + delay


def _reason(target_group: FakeTargetGroup, target_id: str) -> str | None:
    """Why a registered target is not healthy; None if it is."""
    instance = target_group.ec2_backend.get_instance_by_id(target_id)
    if instance is not None and not instance.is_running():
        return "Target.InvalidState"
    target, now = _target(target_group, target_id), clock.now()
    interval = timedelta(seconds=int(target_group.health_check_interval_seconds))
    healthy = confirmed_health(
        target,
        now,
        interval * int(target_group.healthy_threshold_count),
        interval * int(target_group.unhealthy_threshold_count),
    )
    if healthy is None:
        return "Elb.RegistrationInProgress" if now < target.registered + interval else "Elb.InitialHealthChecking"
    return None if healthy else "Target.FailedHealthChecks"


def _health_for(self: FakeTargetGroup, target: dict[str, Any], ec2_backend: EC2Backend) -> FakeHealthStatus:
    target_id = target["Id"]
    if target_id in self.targets:
        reason = _reason(self, target_id)
    elif target_id in self.terminated_targets:
        reason = "Target.InvalidState"
    elif _draining(self, target_id):
        reason = "Target.DeregistrationInProgress"
    else:
        return _moto_health_for(self, target, ec2_backend)
    state, description = _ANSWERS[reason] if reason else ("healthy", None)
    port = self.targets.get(target_id, target).get("Port", self.port)
    return FakeHealthStatus(target_id, port, self.health_check_port, state, reason, description)


def _describe_target_health(
    self: ELBv2Backend, target_group_arn: str, targets: list[dict[str, Any]]
) -> list[FakeHealthStatus]:
    """Moto describes only registered targets when none is named; AWS also those that still drain."""
    target_group = self.target_groups.get(target_group_arn)
    if target_group is None:
        raise TargetGroupNotFoundError
    draining = [{"Id": target_id} for target_id in _targets.get(target_group, {}) if _draining(target_group, target_id)]
    asked = targets or [*target_group.targets.values(), *draining]
    return [target_group.health_for(target, self.ec2_backend) for target in asked]
