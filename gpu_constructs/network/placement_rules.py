"""Which placement groups take nodes of a type. Imports no aws_cdk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_constructs.checks import Problem, Unknown

if TYPE_CHECKING:
    from gpu_constructs.instances.catalog import GpuInstance


def can_be_close(instance: GpuInstance) -> bool:
    """Return whether nodes of a type may be in a cluster placement group."""
    return "cluster" in instance.placement_strategies


def problems(instance: GpuInstance, strategy: str | Unknown | None) -> list[Problem]:
    """Say why nodes of a type cannot be in a placement group; nothing if they can.

    Args:
        instance: The instance type.
        strategy: The strategy of the placement group, in EC2's words; `None` where there is no group.
    """
    if strategy is None or isinstance(strategy, Unknown) or strategy in instance.placement_strategies:
        return []
    supported = ", ".join(instance.placement_strategies)
    return [
        Problem(
            what="placement_group",
            given=f"one of strategy {strategy!r} for {instance.name!r}",
            allowed=f"one of strategy {supported}" if supported else "left out: the type takes none",
            remedy="leave the placement group out, or choose a type that supports its strategy",
            prevents=f"InvalidParameterCombination: {strategy.capitalize()} placement groups are not supported by the "
            f"'{instance.name}' instance type",
        )
    ]
