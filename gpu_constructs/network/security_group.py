"""The security group of nodes that talk to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from gpu_constructs.doubts import warn

_GROUPS_PER_INTERFACE: Final = 5  # the default quota; AWS raises it on request


def create_security_group(
    scope: Construct,
    id: str,
    *,
    vpc: ec2.IVpc,
    description: str,
    efa: bool = True,
) -> ec2.SecurityGroup:
    """Create a security group that lets its members talk to each other and to anywhere, and lets nobody else in.

    It allows all traffic from itself, all traffic to itself, and, for everything else, all traffic to any IPv4 address.
    The rule to itself is not covered by the one to 0.0.0.0/0: EFA traffic has no IP address.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        vpc: The VPC.
        description: What it is for.
        efa: Whether its members may have EFA. Without, the rule to itself is left out.

    See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security
    """
    if not efa:
        group = ec2.SecurityGroup(scope, id, vpc=vpc, description=description, allow_all_outbound=True)
        group.add_ingress_rule(group, ec2.Port.all_traffic(), "all traffic between nodes")
        return group
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


def warn_of_groups(scope: Construct, groups: Sequence[ec2.ISecurityGroup], *, efa: bool) -> None:
    """Warn of security groups, beside the nodes' own, that may keep nodes from starting or EFA from working.

    What rules an imported group has cannot be seen, and a rule may be written in several forms, so that none is
    refused.

    Args:
        scope: The construct that has the nodes.
        groups: The groups beside the nodes' own.
        efa: Whether the nodes have EFA interfaces.
    """
    found = {}
    if len(groups) >= _GROUPS_PER_INTERFACE:
        found["manySecurityGroups"] = (
            f"{len(groups)} security groups beside the nodes' own, on each interface; EC2 allows "
            f"{_GROUPS_PER_INTERFACE} on an interface unless AWS has raised the quota (SecurityGroupsPerInterface"
            "LimitExceeded, https://docs.aws.amazon.com/vpc/latest/userguide/amazon-vpc-limits.html)"
        )
    unseen = [group for group in groups if not _lets_itself_out(group)] if efa else []
    if unseen:
        found["securityGroupsWithEfa"] = (
            f"no rule is seen by which {', '.join(group.node.path for group in unseen)} lets all traffic out to "
            "itself; EFA between the nodes works by their own group, but where others are checked too (SageMaker "
            "HyperPod asks for the rule in each), add egress of all traffic to the group itself: 0.0.0.0/0 does not "
            "cover EFA (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html#efa-start-security)"
        )
    warn(scope, found)


def _lets_itself_out(group: ec2.ISecurityGroup) -> bool:
    resolve = Stack.of(group).resolve
    own = resolve(group.security_group_id)
    return any(
        isinstance(rule, ec2.CfnSecurityGroupEgress)
        and rule.ip_protocol == "-1"
        and resolve(rule.destination_security_group_id) == own
        for rule in group.node.children
    )
