"""EC2 of the local AWS: security group rules, placement groups, Capacity Reservations."""

from __future__ import annotations

from gpu_constructs.local.services.ec2 import capacity_reservations, placement_groups, security_groups


def install() -> None:
    """Add what moto's EC2 lacks."""
    security_groups.install()
    placement_groups.install()
    capacity_reservations.install()
