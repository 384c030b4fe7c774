"""How many nodes a group may have. Imports no aws_cdk."""

from __future__ import annotations

from gpu_constructs.checks import UNKNOWN, Problem, Unknown, whole_number

SURGE: int = 1
"""Nodes that a training group may have beside those wanted, so that one about to be lost is replaced early."""


def problems(
    *, min_capacity: int | Unknown, max_capacity: int | Unknown, desired_capacity: int | Unknown | None
) -> list[Problem]:
    """Say what Auto Scaling would refuse about the size of a group; nothing if it would accept it."""
    given = {"min_capacity": min_capacity, "max_capacity": max_capacity, "desired_capacity": desired_capacity}
    counts = {what: count for what, count in given.items() if count is not None}
    found = [
        problem
        for what, count in counts.items()
        for problem in whole_number(what, count, minimum=0, remedy="pass a number of nodes")
    ]
    sizes = [count for count in (min_capacity, desired_capacity, max_capacity) if count is not None]
    numbers = [count for count in sizes if count is not UNKNOWN]
    if found or numbers == sorted(numbers):
        return found
    return [
        Problem(
            what="capacity",
            given=", ".join(f"{what}={count}" for what, count in counts.items()),
            allowed="min_capacity <= desired_capacity <= max_capacity",
            remedy="raise max_capacity or lower the others",
            prevents="ValidationError: Desired capacity must be between the specified min size and max size",
        )
    ]


def node_count_problems(node_count: int | Unknown) -> list[Problem]:
    """Say why a training cluster cannot have that many nodes; nothing if it can."""
    if node_count is not UNKNOWN:
        return whole_number("node_count", node_count, minimum=1, remedy="pass the number of nodes that train together")
    return [
        Problem(
            what="node_count",
            given="a value known only at deploy time",
            allowed="known at synth: CloudFormation cannot add the one node kept free for early replacement",
            remedy="write the number out",
        )
    ]
