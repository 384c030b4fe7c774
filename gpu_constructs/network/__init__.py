"""How nodes are connected: interfaces, security group, placement group, VPC and subnets."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpu_constructs.network.endpoints import private_vpc

__all__ = ["private_vpc"]


def __getattr__(name: str) -> object:
    """Load what needs aws_cdk when it is asked for: the layouts and rules beside it must not pay for it."""
    if name == "private_vpc":
        return import_module("gpu_constructs.network.endpoints").private_vpc
    message = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(message)
