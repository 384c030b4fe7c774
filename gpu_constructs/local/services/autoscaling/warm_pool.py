"""A group's warm pool: its settings, how large it is, and how instances get into and out of it.

https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-warm-pools.html
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.autoscaling.exceptions import ValidationError
from moto.autoscaling.models import FakeAutoScalingGroup, FakeWarmPool, InstanceState

from gpu_constructs.local.services.autoscaling import transitions
from gpu_constructs.local.services.autoscaling.capacity import warm_pool_size
from gpu_constructs.local.services.autoscaling.records import may_launch, record, suspended, timestamp

_POOL_STATES = ("Stopped", "Running", "Hibernated")
_NO_LIMIT = -1


class WarmPool(FakeWarmPool):
    """moto's settings of a warm pool, and whether it is being deleted."""

    status: str | None = None

    @property
    def reuses(self) -> bool:
        """Whether instances come back into the pool on scale-in."""
        return bool((self.instance_reuse_policy or {}).get("ReuseOnScaleIn"))


def put(group: FakeAutoScalingGroup, settings: Mapping[str, Any]) -> None:
    """Create the pool, or change what is given of it.

    Raises:
        ValidationError: There is no such pool state, or the minimum is negative.
    """
    pool_state = settings.get("PoolState")
    if pool_state is not None and pool_state not in _POOL_STATES:
        raise ValidationError(f"Invalid PoolState {pool_state}. Valid values are: {', '.join(_POOL_STATES)}")
    if int(settings.get("MinSize") or 0) < 0:
        raise ValidationError("MinSize must be greater than or equal to 0")
    before = group.warm_pool
    prepared = settings.get("MaxGroupPreparedCapacity", before.max_group_prepared_capacity if before else None)
    group.warm_pool = WarmPool(  # type: ignore[abstract]  # moto's own pool leaves these methods out, too
        max_group_prepared_capacity=None if prepared in {None, _NO_LIMIT} else int(prepared),
        min_size=int(settings.get("MinSize", before.min_size if before else 0)),
        pool_state=pool_state or (before.pool_state if before else None),
        instance_reuse_policy=settings.get("InstanceReusePolicy", before.instance_reuse_policy if before else None),
    )
    fill(group)


def delete(group: FakeAutoScalingGroup, *, force: bool) -> None:
    """Delete the pool: with force at once, else when its instances' terminate hooks are done.

    Raises:
        ValidationError: The group has no warm pool.
    """
    pool = group.warm_pool
    if pool is None:
        raise ValidationError(f"No warm pool found for group {group.name}")
    if isinstance(pool, WarmPool):
        pool.status = "PendingDelete"
    if force:
        for state in list(record(group).warm):
            transitions.remove(group, state)
    fill(group)


def wanted_size(group: FakeAutoScalingGroup) -> int:
    """How many instances the pool should hold now."""
    pool = group.warm_pool
    if pool is None or _being_deleted(pool):
        return 0
    return warm_pool_size(
        group.max_size or 0, group.desired_capacity or 0, pool.min_size, pool.max_group_prepared_capacity
    )


def staying(group: FakeAutoScalingGroup) -> list[InstanceState]:
    """The pool's instances that are not on their way out."""
    return [state for state in record(group).warm if "Terminating" not in state.lifecycle_state]


def ready(group: FakeAutoScalingGroup) -> InstanceState | None:
    """A warmed instance that scale-out can take, the longest there first."""
    return next(
        (state for state in record(group).warm if "Pending" not in state.lifecycle_state and state in staying(group)),
        None,
    )


def takes_back(group: FakeAutoScalingGroup) -> bool:
    """Whether an instance that scale-in has chosen goes into the pool instead."""
    pool = group.warm_pool
    return isinstance(pool, WarmPool) and pool.reuses and len(staying(group)) < wanted_size(group)


def fill(group: FakeAutoScalingGroup) -> None:
    """Launch or terminate until the pool has its size; a pool being deleted goes with its last instance."""
    surplus = len(staying(group)) - wanted_size(group)
    if surplus > 0 and not suspended(group, "Terminate"):
        for state in staying(group)[-surplus:]:
            cause = f"At {timestamp()} instance {state.instance_id} was selected for termination from the warm pool."
            transitions.terminate(group, state, cause)
    if may_launch(group):
        for _ in range(-surplus):
            if not transitions.launch(
                group, f"At {timestamp()} an instance was launched into the warm pool.", warm=True
            ):
                break
    if group.warm_pool and _being_deleted(group.warm_pool) and not record(group).warm:
        group.warm_pool = None


def _being_deleted(pool: FakeWarmPool) -> bool:
    return isinstance(pool, WarmPool) and pool.status == "PendingDelete"
