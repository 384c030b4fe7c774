"""Elastic Load Balancing as it behaves: target health by the clock, and its CloudFormation types with all they have."""

from __future__ import annotations

from gpu_constructs.local.services.elbv2 import health, listeners, load_balancers, rules, target_groups
from gpu_constructs.local.services.elbv2.health import in_flight, is_unhealthy, set_in_flight, set_probe_result

__all__ = ["in_flight", "install", "is_unhealthy", "set_in_flight", "set_probe_result"]


def install() -> None:
    """Put everything in place; may be called again."""
    for module in (health, load_balancers, target_groups, listeners, rules):
        module.install()
