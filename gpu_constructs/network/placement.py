"""Where nodes are placed relative to each other."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from gpu_constructs.checks import UNKNOWN, Unknown


def create_placement_group(scope: Construct, id: str) -> ec2.PlacementGroup:
    """Create a cluster placement group: nodes close to each other in one zone, for the lowest latency between them.

    See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-strategies.html#placement-groups-cluster
    """
    return ec2.PlacementGroup(scope, id, strategy=ec2.PlacementGroupStrategy.CLUSTER)


def strategy_of(group: ec2.IPlacementGroup | None) -> str | Unknown | None:
    """Return the strategy of a placement group in EC2's words; `UNKNOWN` for one that was imported."""
    if group is None:
        return None
    strategy = getattr(group, "strategy", None)
    return strategy.name.lower() if isinstance(strategy, ec2.PlacementGroupStrategy) else UNKNOWN
