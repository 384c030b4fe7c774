"""The security group of nodes that talk to each other."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from constructs import Construct


def create_security_group(
    scope: Construct,
    id: str,
    *,
    vpc: ec2.IVpc,
    description: str,
) -> ec2.SecurityGroup:
    """Create a security group that lets its members do what EFA needs, and lets nobody else in.

    It allows all traffic from itself, all traffic to itself, and, for everything else, all traffic to any IPv4 address.
    The rule to itself is not covered by the one to 0.0.0.0/0: EFA traffic has no IP address.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        vpc: The VPC.
        description: What it is for.

    See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security
    """
    # CDK leaves out the rule to itself while `allow_all_outbound` is on, and refuses one to 0.0.0.0/0 while it is off
    # (https://github.com/aws/aws-cdk/issues/38558): hence off, with the second rule as a resource of its own.
    group = ec2.SecurityGroup(scope, id, vpc=vpc, description=description, allow_all_outbound=False)
    group.connections.allow_internally(ec2.Port.all_traffic(), "EFA and all other traffic between nodes")
    anywhere = ec2.CfnSecurityGroupEgress(
        group,
        "EgressToAnywhere",
        group_id=group.security_group_id,
        ip_protocol="-1",
        cidr_ip="0.0.0.0/0",
        description="AWS APIs and the internet",
    )
    # The first egress rule strips the allow-all that EC2 gives to a new group
    # (https://github.com/aws/aws-cdk/issues/22140), so the one that looks like it comes last.
    for rule in group.node.children:
        if isinstance(rule, ec2.CfnSecurityGroupEgress) and rule is not anywhere:
            anywhere.node.add_dependency(rule)
    return group
