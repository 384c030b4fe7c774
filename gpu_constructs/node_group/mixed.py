"""Which instance types one group can mix. Imports no aws_cdk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from gpu_constructs.checks import Problem
from gpu_constructs.network import efa

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_constructs.instances.catalog import GpuInstance

# https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_LaunchTemplateOverrides.html
_MOST_TYPES: Final = 40


def problems(instance: GpuInstance, mode: efa.Efa, types: Sequence[GpuInstance]) -> list[Problem]:
    """Say why a group cannot mix instance types; nothing if it can.

    All are started from one launch template, so its image and its network interfaces must fit each of them.

    Args:
        instance: The type of the launch template.
        mode: Whether and how the launch template gives its nodes EFA.
        types: The types that replace it.
    """
    found = []
    if len(types) > _MOST_TYPES:
        found.append(
            Problem(
                what="instance_types",
                given=f"{len(types)} types",
                allowed=f"up to {_MOST_TYPES}",
                remedy="leave some out or make a second group",
            )
        )
    for other in types:
        found += _type_problems(instance, mode, other)
    return found


def _type_problems(instance: GpuInstance, mode: efa.Efa, other: GpuInstance) -> list[Problem]:
    interfaces = set(efa.interfaces(instance, mode))
    if other.architecture != instance.architecture:
        return [
            Problem(
                what="instance_types",
                given=f"{other.name!r} ({other.architecture})",
                allowed=f"types of the launch template's architecture, which is {instance.architecture}",
                remedy="make a group with a launch template of its own for each architecture",
                prevents=f"The architecture {other.architecture!r} of the specified instance type does not match the "
                f"architecture {instance.architecture!r} of the specified AMI",
            )
        ]
    if interfaces <= set(efa.interfaces(other, mode)):
        return []
    return [
        Problem(
            what="instance_types",
            given=f"{other.name!r}, which has no room for the {len(interfaces)} network interfaces that the launch "
            f"template has for {instance.name!r}",
            allowed="types with at least its network cards and EFA interfaces",
            remedy=f"make the launch template for {other.name!r}, or make a group of its own for it",
        )
    ]
