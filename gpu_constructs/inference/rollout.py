"""How a new version reaches the nodes: values, and what CloudFormation refuses about them. Imports no aws_cdk.

https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-updatepolicy.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from gpu_constructs.checks import UNKNOWN, Problem, Unknown, whole_number

BATCH: Final = 1
"""Nodes that are replaced at a time."""


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """How a new version reaches the nodes; made by the methods below, not by hand.

    Args:
        kind: Which of them.
        min_in_service: Nodes that serve meanwhile.
        pause_seconds: How long each batch may take.
    """

    kind: Literal["rolling"]
    min_in_service: int | Unknown | None = None
    pause_seconds: int | None = None

    @classmethod
    def rolling(cls, min_in_service: int | None = None, pause_seconds: int | None = None) -> Rollout:
        """Replace nodes one at a time, within the deployment: each new one must serve before the next old one goes.

        A node that does not serve in time fails the deployment, and CloudFormation brings the old version back. Where
        capacity may be absent (spot, a Capacity Block) the deployment does not wait for nodes to say that they serve,
        and pauses as long as they may take.

        Args:
            min_in_service: Nodes that serve meanwhile, less than `max_capacity`. By default `min_capacity`: a new node
                then comes before an old one goes.
            pause_seconds: How long each node may take, at most 3600. By default as long as image and model say. One
                that is shorter is refused.
        """
        return cls(kind="rolling", min_in_service=min_in_service, pause_seconds=pause_seconds)


def min_in_service(rollout: Rollout, min_capacity: int | Unknown) -> int | Unknown:
    """Return how many nodes serve while others are replaced."""
    return min_capacity if rollout.min_in_service is None else rollout.min_in_service


def problems(
    rollout: Rollout, *, min_capacity: int | Unknown, max_capacity: int | Unknown, needed_seconds: int
) -> list[Problem]:
    """Say why nodes could not be replaced; nothing if they can.

    Args:
        rollout: How they are replaced.
        min_capacity: Fewest nodes.
        max_capacity: Most nodes.
        needed_seconds: How long a node may take until it serves.
    """
    kept = min_in_service(rollout, min_capacity)
    found = whole_number("rollout min_in_service", kept, minimum=0, remedy="pass a number of nodes, or leave it out")
    if not found and kept is not UNKNOWN and max_capacity is not UNKNOWN and kept + BATCH > max_capacity:
        found.append(
            Problem(
                what="max_capacity",
                given=f"{max_capacity}, with {kept} nodes that serve while {BATCH} is replaced",
                allowed=f"at least {kept + BATCH}: a new node comes before an old one goes",
                remedy=f"raise max_capacity to {kept + BATCH}, or lower min_in_service",
                prevents="MinInstancesInService must be less than the autoscaling group's MaxSize",
            )
        )
    pause = rollout.pause_seconds
    if pause is not None and not needed_seconds <= pause <= 3600:  # noqa: PLR2004
        found.append(
            Problem(
                what="rollout pause_seconds",
                given=f"{pause} s",
                allowed=f"from {needed_seconds} s, which a node may take until it serves, to 3600 s",
                remedy="leave it out, or state a measured load_seconds",
                prevents="Received 0 SUCCESS signal(s) out of 1",
            )
        )
    return found
