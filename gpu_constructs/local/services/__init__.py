"""What the local AWS adds to moto, one module a service: its CloudFormation types, its API operations, `install()`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import cache

from gpu_constructs.local.services import (
    acm,
    autoscaling,
    cloudformation,
    cloudwatch,
    ec2,
    ecr,
    elbv2,
    fsx,
    iam,
    s3,
    secrets_manager,
    sns,
    sqs,
    ssm,
    wafv2,
)

_SERVICES = (
    acm,
    cloudformation,
    ec2,
    ecr,
    autoscaling,
    elbv2,
    fsx,
    iam,
    s3,
    secrets_manager,
    cloudwatch,
    sns,
    sqs,
    ssm,
    wafv2,
)


@cache
def install_all() -> None:
    """Add everything, once, before the first request: moto remembers which types it has found."""
    for service in _SERVICES:
        service.install()


def ticks() -> tuple[Callable[[datetime], None], ...]:
    """What is to be called with the time before each request."""
    return (autoscaling.tick, cloudformation.tick)
