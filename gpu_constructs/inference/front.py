"""What both kinds of load balancer are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2

from gpu_constructs.inference.listener import Listener
from gpu_constructs.inference.runtime import ServingRuntime


@dataclass(frozen=True, kw_only=True)
class Front:
    """What a load balancer stands in front of, and where.

    Args:
        vpc: The VPC.
        subnets: Where it is: one a zone.
        listener: What was asked for.
        runtime: The server behind it.
        group: Its nodes.
        deregistration: How long requests under way may take on a node that leaves.
    """

    vpc: ec2.IVpc
    subnets: Sequence[ec2.ISubnet]
    listener: Listener
    runtime: ServingRuntime
    group: autoscaling.AutoScalingGroup
    deregistration: Duration
