"""EC2 of the local AWS: security groups, route tables, placement groups, Capacity Reservations."""

from __future__ import annotations

from gpu_constructs.local.services.ec2 import (
    capacity_reservations,
    placement_groups,
    security_groups,
)
from gpu_constructs.local.services.ec2 import route_tables as _types  # noqa: F401 - its type is found once imported


def install() -> None:
    """Add what moto's EC2 lacks."""
    security_groups.install()
    placement_groups.install()
    capacity_reservations.install()
