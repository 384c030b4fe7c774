"""When a group grows and shrinks: values, and what Auto Scaling refuses about them. Imports no aws_cdk.

    scaling=[Scaling.gpu_utilization(60)]

Each policy holds a measure at a target. With several the group grows if any asks for it and shrinks only if all agree:
https://docs.aws.amazon.com/autoscaling/ec2/userguide/as-scaling-target-tracking.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from gpu_constructs.checks import Problem

Measure = Literal["gpu-utilization", "cpu-utilization"]

_HIGH_PERCENT: Final = 90


@dataclass(frozen=True, kw_only=True)
class Scaling:
    """One policy; made by the methods below, not by hand.

    Args:
        measure: What is held.
        target: At which value, in percent.
    """

    measure: Measure
    target: float

    @classmethod
    def gpu_utilization(cls, percent: float = 60) -> Scaling:
        """Hold the average utilisation of all GPUs of the group.

        Nodes publish it once their model is ready, so that those which load do not pull the average down. An alarm says
        when nobody publishes it, since the group then keeps its size, whatever comes.

        Args:
            percent: The target.
        """
        return cls(measure="gpu-utilization", target=percent)

    @classmethod
    def cpu_utilization(cls, percent: float = 60) -> Scaling:
        """Hold the average utilisation of all vCPUs of the group, for servers whose work is there.

        Args:
            percent: The target.
        """
        return cls(measure="cpu-utilization", target=percent)


DEFAULT: Final = (Scaling.gpu_utilization(60),)
"""How a group scales of which nobody says it."""


def problems(policies: Sequence[Scaling]) -> list[Problem]:
    """Say what is wrong about the policies of a group; nothing if nothing is."""
    found = [
        Problem(
            what=f"scaling {policy.measure}",
            given=repr(policy.target),
            allowed="more than 0 and at most 100 percent",
            remedy="pass a target such as 60: what is above it is the room for requests until the next node serves",
        )
        for policy in policies
        if not 0 < policy.target <= 100  # noqa: PLR2004
    ]
    measures = [policy.measure for policy in policies]
    twice = list(dict.fromkeys(measure for measure in measures if measures.count(measure) > 1))
    found += [
        Problem(
            what="scaling",
            given=f"{measure} more than once",
            allowed="each measure once",
            remedy="keep the lower target, which alone would count",
        )
        for measure in twice
    ]
    return found


def doubts(policies: Sequence[Scaling], *, min_capacity: object) -> dict[str, str]:
    """Say what looks wrong about the policies of a group, by the code of the warning."""
    found = {}
    high = [policy for policy in policies if policy.target > _HIGH_PERCENT]
    if high:
        found["scaling-target-high"] = (
            f"{high[0].measure} is held at {high[0].target:g} %: requests have queued long before the group grows"
        )
    if policies and min_capacity == 0:
        found["scaling-from-zero"] = (
            "min_capacity is 0, and the measures come from the nodes: a group that has shrunk to none does not grow "
            "by itself; raise min_capacity to 1, or set the size by a schedule or by hand"
        )
    return found
