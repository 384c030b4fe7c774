"""How many instances, of which kind, and which one leaves: arithmetic over plain values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


def instances_for(desired: int, weight: int = 1) -> int:
    """Instances that a desired capacity takes when each is worth `weight` units."""
    return math.ceil(desired / weight)


def on_demand_wanted(instances: int, base: int, percent_above_base: int) -> int:
    """How many of a mixed group's instances are On-Demand; what does not divide evenly is rounded up, as AWS does."""
    base = min(base, instances)
    return base + math.ceil((instances - base) * percent_above_base / 100)


def warm_pool_size(max_size: int, desired: int, min_size: int = 0, max_prepared: int | None = None) -> int:
    """Instances a warm pool holds: up to the prepared (or maximum) capacity, and never fewer than its minimum.

    https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_PutWarmPool.html
    """
    prepared = max_size if max_prepared is None else max_prepared
    return max(prepared - desired, min_size, 0)


def adjusted_capacity(desired: int, adjustment_type: str, adjustment: int, min_magnitude: int = 0) -> int:
    """The capacity a scaling policy asks for, before the group's limits.

    Percentages are rounded towards zero, but an adjustment of less than one instance is one instance
    (https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-scaling-simple-step.html).
    """
    if adjustment_type == "ExactCapacity":
        return adjustment
    if adjustment_type == "ChangeInCapacity":
        return desired + adjustment
    change = desired * adjustment / 100
    magnitude = max(math.floor(abs(change)), min_magnitude, 1 if change else 0)
    return desired + int(math.copysign(magnitude, adjustment))


def step_adjustment(steps: Sequence[Mapping[str, Any]], breach: float) -> int | None:
    """The adjustment of the step that a metric's distance from its alarm's threshold falls into."""
    for step in steps:
        lower = _bound(step, "MetricIntervalLowerBound", otherwise=0 if breach >= 0 else -math.inf)
        upper = _bound(step, "MetricIntervalUpperBound", otherwise=math.inf if breach >= 0 else 0)
        # The bound nearer to the threshold belongs to a step, the farther one to the next.
        if (lower <= breach < upper) if breach >= 0 else (lower < breach <= upper):
            return int(step["ScalingAdjustment"])
    return None


def _bound(step: Mapping[str, Any], name: str, *, otherwise: float) -> float:
    value = step.get(name)
    return otherwise if value is None else float(value)


@dataclass(frozen=True)
class Candidate:
    """What scale-in looks at when it chooses an instance."""

    instance_id: str
    zone: str
    launch_template_version: int
    launched: datetime


def chosen_for_scale_in(candidates: Sequence[Candidate], count: int, policies: Sequence[str]) -> list[str]:
    """Ids of the instances to terminate: one at a time from the fullest zone, by the first policy that is known.

    `OldestInstance` and `NewestInstance` go by launch time; everything else is taken as the default policy, oldest
    launch template first.
    """
    left = list(candidates)
    chosen: list[str] = []
    while left and len(chosen) < count:
        per_zone = Counter(candidate.zone for candidate in left)
        fullest = max(per_zone.values())
        pool = [candidate for candidate in left if per_zone[candidate.zone] == fullest]
        pick = _by_policy(pool, policies[0] if policies else "Default")
        chosen.append(pick.instance_id)
        left.remove(pick)
    return chosen


def _by_policy(pool: Sequence[Candidate], policy: str) -> Candidate:
    if policy == "NewestInstance":
        return max(pool, key=lambda candidate: candidate.launched)
    if policy == "OldestInstance":
        return min(pool, key=lambda candidate: candidate.launched)
    return min(pool, key=lambda candidate: (candidate.launch_template_version, candidate.launched))
